import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClosedLoad, type ClosedRun, headersOf, pathOf, type RunningLoad } from './closed-load.ts';
import { runClosedLoop } from './load-self.ts';
import { has, type Machine } from './machine.ts';
import { spent } from './process-figures.ts';
import type { Target } from './targets.ts';

export type Figures = Record<string, number>;

/** For bodies of this size and larger the figures include MB per second. */
const LARGE_BYTES = 1_000_000;

let bodyFiles = 0;

/** Starts wrk, which must be installed. Several can run at once, because each reads its own body file. */
export function startWrk(machine: Machine, target: Target, load: ClosedLoad): RunningLoad {
  const file = join(machine.folder, `body-${bodyFiles++}`);
  writeFileSync(file, load.body);
  const script = join(import.meta.dirname, 'wrk.lua');
  const loop = ['-t1', `-c${load.connections}`, `-d${load.secs}`, '--timeout', '30', '-s', script];
  const [command, args] = machine.onCpu('load', ['wrk', ...loop, target.url.origin]);
  const headers = Object.entries(headersOf(load, target)).map((header) => header.join(': '));
  const env = { PATH: process.env.PATH, B_PATH: pathOf(load), B_BODY: file, B_HEADERS: headers.join('\n') };
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

let hasWarned = false;
/** Runs wrk when it is installed, else our own client, which uses more CPU than the gateway. */
function runLoad(machine: Machine, target: Target, load: ClosedLoad): Promise<ClosedRun> {
  if (has('wrk')) return startWrk(machine, target, load).ended;
  if (!hasWarned)
    console.log(
      'wrk is not installed (Debian: wrk): requests/s and latencies are those of our own slow client',
    );
  hasWarned = true;
  return runClosedLoop(target, load);
}

/** Runs a closed loop: each connection sends its next request as soon as it has the answer. */
export async function closedLoop(machine: Machine, target: Target, load: ClosedLoad): Promise<Figures> {
  const { result, cpuUs, peakMb } = await spent(target.pid, () => runLoad(machine, target, load));
  const bytes = Buffer.byteLength(load.body);
  return {
    rps: result.requests / (result.us / 1e6),
    ...(bytes < LARGE_BYTES ? {} : { mb_s: (result.requests * bytes) / result.us }),
    p50_us: result.p50,
    p99_us: result.p99,
    cpu_us_req: cpuUs / result.requests,
    peak_mb: peakMb,
    bad: result.bad,
  };
}
