import { statSync } from 'node:fs';
import { runCommand } from '../../lib/process/run-command.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 1 << 20 };
const MAX_PROGRAMS = 32;

/** How a program is started. */
export interface HelpOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Ends the program early. */
  readonly signal: AbortSignal;
}

/** The help of each program, by path, size, modification time and variables. */
const known = new Map<string, string>();

/**
 * Returns the output of `PROGRAM --help`; null when it has none, takes more than 10 seconds or is stopped. Complete
 * output is read once for each program file. Never rejects.
 */
export async function programHelp(program: string, { env, signal }: HelpOptions): Promise<string | null> {
  const stats = statSync(program, { throwIfNoEntry: false });
  const key = JSON.stringify([program, stats?.size, stats?.mtimeMs, env]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const { code, stdout, stderr } = await runCommand(program, ['--help'], { ...LIMITS, env, signal });
  const help = stdout + stderr;
  if (code === null || help === '') return null;
  known.set(key, help);
  for (const oldest of known.keys()) if (known.size > MAX_PROGRAMS) known.delete(oldest);
  return help;
}
