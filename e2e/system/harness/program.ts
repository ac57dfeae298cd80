import { spawn } from 'node:child_process';
import { basename } from 'node:path';

/** Bytes of output that are stored of one program. */
const MAX_OUTPUT = 200_000;
/** Characters of the reason in an error. */
const MAX_REASON = 400;

export interface ProgramOptions {
  readonly limitMs: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A program that ended with an error or was killed at its time limit. */
export class ProgramError extends Error {
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

/** Sends SIGKILL to the process group of a detached child. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

/** The last line with text: pip and uv print the reason there. */
export function lastLine(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  return (lines.findLast((line) => line !== '') ?? 'no output').slice(0, MAX_REASON);
}

/**
 * Runs a program to its end and returns its standard output. Throws `ProgramError` when it cannot be started, ends with
 * another status than 0, or exceeds `limitMs`. The whole process group is killed at the limit.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { limitMs, cwd, env }: ProgramOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let output = '';
    let isLate = false;
    child.stdout.on('data', (chunk: Buffer) => {
      stdout = (stdout + chunk.toString('utf8')).slice(-MAX_OUTPUT);
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
      });
    }
    const limit = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, limitMs);
    const fail = (reason: string) => reject(new ProgramError(`${basename(program)}: ${reason}`, output));
    child.once('error', (error) => {
      clearTimeout(limit);
      fail(error.message);
    });
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      if (isLate) fail(`no end within ${limitMs / 1000} s`);
      else if (code === 0) resolve(stdout);
      else fail(`ended with ${code ?? signal}: ${lastLine(output)}`);
    });
  });
}
