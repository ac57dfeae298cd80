import { statSync } from 'node:fs';
import { runCommand } from '../../lib/process/run-command.ts';

const LIMIT_MS = 10_000;
const MAX_BYTES = 1 << 20;
const MAX_PROGRAMS = 32;

/** The help of each program, by path, size and modification time. */
const known = new Map<string, Promise<string>>();

/**
 * Returns the output of `PROGRAM --help`; empty when it has none or takes more than 10 seconds. It is read once for each
 * program file. Never rejects.
 */
export function programHelp(program: string): Promise<string> {
  const stats = statSync(program, { throwIfNoEntry: false });
  const key = `${program} ${stats?.size} ${stats?.mtimeMs}`;
  let help = known.get(key);
  if (help === undefined) {
    help = readHelp(program);
    known.set(key, help);
    for (const oldest of known.keys()) if (known.size > MAX_PROGRAMS) known.delete(oldest);
  }
  return help;
}

async function readHelp(program: string): Promise<string> {
  try {
    const result = await runCommand(program, ['--help'], { timeoutMs: LIMIT_MS, maxBytes: MAX_BYTES });
    return result.stdout + result.stderr;
  } catch {
    return '';
  }
}
