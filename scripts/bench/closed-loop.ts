import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import { spent } from './process-figures.ts';
import type { Figures } from './ratios.ts';
import type { Target } from './targets.ts';

/** Each connection sends its next request as soon as it has the answer. */
export interface ClosedLoad {
  /** Default: a chat. */
  readonly path?: string;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly connections: number;
  readonly secs: number;
}

/** The figures of one run; latencies in microseconds. */
export interface ClosedRun {
  readonly requests: number;
  readonly us: number;
  readonly p50: number;
  readonly p99: number;
  readonly bad: number;
}

/** A running load: its process, and its figures once it has ended. */
export interface RunningLoad {
  readonly pid: number;
  readonly ended: Promise<ClosedRun>;
}

let bodyFiles = 0;

/** Starts wrk. Several can run at once, because each reads its own body file. */
export function startWrk(machine: Machine, target: Target, load: ClosedLoad): RunningLoad {
  const file = join(machine.folder, `body-${bodyFiles++}`);
  writeFileSync(file, load.body);
  const script = join(import.meta.dirname, 'wrk.lua');
  const loop = ['-t1', `-c${load.connections}`, `-d${load.secs}`, '--timeout', '30', '-s', script];
  const [command, args] = machine.onCpu('load', ['wrk', ...loop, target.url.origin]);
  const headers = { 'content-type': load.type ?? 'application/json', ...target.headers };
  const env = {
    PATH: process.env.PATH,
    B_PATH: load.path ?? '/v1/chat/completions',
    B_BODY: file,
    B_HEADERS: Object.entries(headers)
      .map((header) => header.join(': '))
      .join('\n'),
  };
  const child = spawn(command, args, { env });
  const text: Buffer[] = [];
  const ended = new Promise<ClosedRun>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => text.push(chunk));
    child.on('error', reject);
    child.on('close', () => {
      rmSync(file, { force: true });
      const output = Buffer.concat(text).toString('utf8');
      const line = /@@(\{.*\})/.exec(output);
      if (!line) return reject(new Error(`wrk: ${output}`));
      const { n, ...figures } = JSON.parse(line[1] as string) as Omit<ClosedRun, 'requests'> & { n: number };
      resolve({ requests: n, ...figures });
    });
  });
  return { pid: child.pid ?? 0, ended };
}

/** Runs a closed loop and measures the target. */
export async function closedLoop(machine: Machine, target: Target, load: ClosedLoad): Promise<Figures> {
  const run = () => startWrk(machine, target, load).ended;
  const { result, cpuUs, peakMb } = await spent(target.pid, run);
  return {
    rps: result.requests / (result.us / 1e6),
    p50_us: result.p50,
    p99_us: result.p99,
    cpu_us_req: cpuUs / result.requests,
    peak_mb: peakMb,
    bad: result.bad,
  };
}
