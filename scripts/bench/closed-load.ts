import type { Target } from './targets.ts';

/** The figures of one closed-loop run; latencies in microseconds. */
export interface ClosedRun {
  readonly requests: number;
  readonly us: number;
  readonly p50: number;
  readonly p99: number;
  readonly bad: number;
}

export interface ClosedLoad {
  /** Default: a chat. */
  readonly path?: string;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly connections: number;
  readonly secs: number;
}

export const pathOf = ({ path = '/v1/chat/completions' }: ClosedLoad): string => path;

export const headersOf = ({ type = 'application/json' }: ClosedLoad, target: Target) => ({
  'content-type': type,
  ...target.headers,
});

/** A running load: its process, and its figures once it has ended. */
export interface RunningLoad {
  readonly pid: number;
  readonly ended: Promise<ClosedRun>;
}
