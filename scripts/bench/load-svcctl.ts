import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ADMIN_KEY } from './gateway-under-test.ts';
import type { Figures } from './load-closed.ts';
import { median } from './ratios.ts';
import type { Target } from './targets.ts';

const program = join(import.meta.dirname, '..', 'svcctl');
/** Commands that answer immediately, and how often each runs. */
const COMMANDS = [
  'status',
  'slots list',
  'models list',
  'requests list',
  'config',
  'usage',
  '--help',
] as const;
const RUNS = 5;

async function runMs(command: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const since = performance.now();
  const child = spawn(command, [...words], { stdio: 'ignore', env: { PATH: process.env.PATH, ...env } });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${code}`);
  return performance.now() - since;
}

/** The median of several runs in milliseconds. */
async function medianMs(
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < RUNS; time++) times.push(await runMs(command, words, env));
  return median(times);
}

/**
 * Measures the duration of each command and of the slowest one, in milliseconds (medians). `node_ms` is the duration of an empty
 * Node program, which every command includes.
 */
export async function svcctlCommands(target: Target): Promise<Figures> {
  const env = { SVC_HOME: target.home, SVC_URL: target.url.origin, SVC_ADMIN_KEY: ADMIN_KEY };
  const all: [name: string, ms: number][] = [];
  for (const command of COMMANDS) {
    const ms = await medianMs(program, command.split(' '), env);
    all.push([`${command.replace(/^--/, '').replace(' ', '_')}_ms`, ms]);
  }
  const node = await medianMs(process.execPath, ['-e', '0']);
  return { ...Object.fromEntries(all), slowest_ms: Math.max(...all.map(([, ms]) => ms)), node_ms: node };
}
