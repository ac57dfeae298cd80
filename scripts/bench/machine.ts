import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from './http-request.ts';

export const has = (command: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$0"', command]).status === 0;

/** Gateways run on one CPU, the load generator and the model server on another. Engines may use all. */
const CPUS = { gateway: '0', load: '1', all: `0-${availableParallelism() - 1}` } as const;
export type Side = keyof typeof CPUS;

const STARTS_WITHIN_MS = 60_000;

/** The processes of one run and their folder. Both are removed at the end of the run. */
export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  readonly pinned = availableParallelism() > 1 && has('taskset');
  readonly #children: ChildProcess[] = [];

  constructor() {
    if (this.pinned) spawnSync('taskset', ['-acp', CPUS.load, String(process.pid)]);
  }

  /** Returns the command that runs on the CPU of `side`. */
  onCpu(side: Side, command: readonly string[]): [command: string, args: string[]] {
    const [program = '', ...rest] = command;
    return this.pinned ? ['taskset', ['-c', CPUS[side], program, ...rest]] : [program, rest];
  }

  /** Starts a process for the duration of the run. Its output goes to a file in the folder. Returns its pid. */
  start(side: Side, command: readonly string[], env: Record<string, string> = {}): number {
    const output = openSync(join(this.folder, `output-${this.#children.length}`), 'w');
    const [program, args] = this.onCpu(side, command);
    const child = spawn(program, args, {
      stdio: ['ignore', output, output],
      env: { PATH: process.env.PATH, ...env },
    });
    this.#children.push(child);
    return child.pid ?? 0;
  }

  /** Ends a process that `start` has started. Resolves when it has exited. */
  async stop(pid: number): Promise<void> {
    const child = this.#children.find((each) => each.pid === pid);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  /** Ends all processes and waits for their exit: a process that still writes would create the removed folder again. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#children.map(({ pid = 0 }) => this.stop(pid)));
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > end) throw new Error(what);
    await sleep(50);
  }
}

/** Resolves at the first response of `url` with any status. */
export const answers = (url: string): Promise<void> =>
  until(`${url} does not answer`, async () => (await sendRequest(url)).status > 0);

/** Resolves at the first response of `url` with status 200 and a body that `holds` accepts. */
export const until200 = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  holds: (body: string) => boolean = () => true,
): Promise<void> =>
  until(`${url} does not answer 200 with the expected body`, async () => {
    const { status, body } = await sendRequest(url, { headers });
    return status === 200 && holds(body);
  });
