import type { Target } from './targets.ts';

/** What one closed-loop run measured; latencies in microseconds. */
export interface ClosedRun {
  readonly requests: number;
  readonly us: number;
  readonly p50: number;
  readonly p99: number;
  readonly bad: number;
}

export interface ClosedLoad {
  /** A chat unless it says otherwise. */
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

/** A load under way: its process, and what it measured once it has ended. */
export interface RunningLoad {
  readonly pid: number;
  readonly ended: Promise<ClosedRun>;
}
