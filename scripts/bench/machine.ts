import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const has = (command: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$0"', command]).status === 0;

/** CPU of the gateways, and CPU of the load generator and the model server: they never fight for one. Engines get all. */
const CPUS = { gateway: '0', load: '1', all: `0-${availableParallelism() - 1}` } as const;
export type Side = keyof typeof CPUS;

const STARTS_WITHIN_MS = 20_000;

/** The processes of one run and the folder that they write to; all of it goes when the run ends. */
export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  readonly pinned = availableParallelism() > 1 && has('taskset');
  readonly #children: ChildProcess[] = [];

  constructor() {
    if (this.pinned) spawnSync('taskset', ['-acp', CPUS.load, String(process.pid)]);
  }

  /** The command as it runs on its side's CPU. */
  onCpu(side: Side, command: readonly string[]): [command: string, args: string[]] {
    const [program = '', ...rest] = command;
    return this.pinned ? ['taskset', ['-c', CPUS[side], program, ...rest]] : [program, rest];
  }

  /** Starts a process that lives as long as the run; its output goes to a file of the folder. Answers its pid. */
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

  close(): void {
    for (const child of this.#children) child.kill('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Resolves once `url` answers, whatever it answers. */
export async function answers(url: string): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS;
  for (;;) {
    if (await text(url).catch(() => null)) return;
    if (Date.now() > end) throw new Error(`${url} does not answer`);
    await sleep(50);
  }
}

/** Resolves once `url` answers 200. */
export async function until200(url: string): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS;
  while ((await status(url).catch(() => 0)) !== 200) {
    if (Date.now() > end) throw new Error(`${url} does not answer 200`);
    await sleep(50);
  }
}

const status = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });

/** The body of a GET on a connection of its own. */
export function text(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        body += chunk;
      });
      answer.on('end', () => resolve(body));
    }).on('error', reject);
  });
}
