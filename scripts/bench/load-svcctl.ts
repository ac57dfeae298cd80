import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Figures } from './load-closed.ts';
import { ADMIN_KEY } from './ours.ts';
import { median } from './ratios.ts';
import type { Target } from './targets.ts';

const program = join(import.meta.dirname, '..', 'svcctl');
/** Commands that answer at once, and how often each is run. */
const COMMANDS = [
  'status',
  'slots list',
  'models list',
  'requests list',
  'config',
  'usage',
  '--help',
] as const;
const TIMES = 5;

async function took(target: Target, words: readonly string[]): Promise<number> {
  const since = performance.now();
  const env = { PATH: process.env.PATH, SVC_HOME: target.home, SVC_URL: target.url.origin };
  const child = spawn(program, [...words], { stdio: 'ignore', env: { ...env, SVC_ADMIN_KEY: ADMIN_KEY } });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`svcctl ${words.join(' ')} ended with ${code}`);
  return performance.now() - since;
}

/** Milliseconds of each command from its start to its end, and of the slowest of them (medians). */
export async function svcctlCommands(target: Target): Promise<Figures> {
  const all: [name: string, ms: number][] = [];
  for (const command of COMMANDS) {
    const times: number[] = [];
    for (let time = 0; time < TIMES; time++) times.push(await took(target, command.split(' ')));
    all.push([`${command.replace(/^--/, '').replace(' ', '_')}_ms`, median(times)]);
  }
  return { ...Object.fromEntries(all), slowest_ms: Math.max(...all.map(([, ms]) => ms)) };
}
