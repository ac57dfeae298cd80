import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { findProgram } from './find-program.ts';

export interface RunOptions {
  /** Milliseconds until the whole process group is killed. */
  timeoutMs: number;
  /** Maximum bytes of stdout and of stderr, each. The rest is dropped. */
  maxBytes: number;
  /** Variables in addition to PATH and LC_ALL. Nothing is inherited from the daemon. */
  env?: Readonly<Record<string, string>>;
  /** Search path for the program. */
  path?: string;
  /** Ends the program early, as the time limit does. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** Exit status. Null when it was killed by a signal or never started. */
  code: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** True when the program does not exist or cannot be executed. */
  missing: boolean;
  /** Only for a process that could not be killed because the kernel blocks it. Resolves once it has ended. */
  leftBehind?: Promise<void>;
}

/** Search path when the caller sets none. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Grandchildren may keep the pipes open after the program has ended. Output is read for this long. */
const PIPE_GRACE_MS = 250;
/** A killed process ends within a moment unless it hangs in a driver. Do not wait longer for it. */
const KILL_GRACE_MS = 500;
const NOT_STARTED: RunResult = { code: null, stdout: '', stderr: '', timedOut: false, missing: false };

/** Captures the first `maxBytes` of a stream and drains the rest, so that the writer never blocks. */
function captureHead(stream: Readable | null, maxBytes: number): () => string {
  const parts: Buffer[] = [];
  let remaining = maxBytes;
  stream?.on('data', (chunk: Buffer) => {
    if (remaining <= 0) return;
    const head = chunk.subarray(0, remaining);
    parts.push(head);
    remaining -= head.length;
  });
  stream?.on('error', () => {});
  return () => Buffer.concat(parts).toString('utf8');
}

/** Kills a process and its children. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** Starts a program in its own process group, without a shell and without the environment of the daemon. */
export function start(
  file: string,
  args: readonly string[],
  options: Pick<RunOptions, 'env' | 'path'>,
  input: 'ignore' | 'pipe' | number = 'ignore',
): ChildProcess {
  return spawn(file, [...args], {
    detached: true,
    shell: false,
    stdio: [input, 'pipe', 'pipe'],
    env: { ...options.env, PATH: options.path ?? DEFAULT_PATH, LC_ALL: 'C' },
  });
}

/** Returns the result for a program that could not be started. */
function notStartedResult(error: unknown): RunResult {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const missing = code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR';
  return { ...NOT_STARTED, missing, stderr: missing ? '' : code };
}

const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

function watch(child: ChildProcess, options: RunOptions, done: (result: RunResult) => void): void {
  const stdout = captureHead(child.stdout, options.maxBytes);
  const stderr = captureHead(child.stderr, options.maxBytes);
  let timedOut = false;
  let settled = false;
  let grace: NodeJS.Timeout | undefined;
  const stop = () => {
    killGroup(child);
    if (hasExited(child)) return;
    clearTimeout(grace);
    grace = setTimeout(leaveBehind, KILL_GRACE_MS);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop();
  }, options.timeoutMs);
  const finish = (result: RunResult) => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    clearTimeout(grace);
    options.signal?.removeEventListener('abort', stop);
    child.stdout?.destroy();
    child.stderr?.destroy();
    done(result);
  };
  const ended = (code: number | null) =>
    finish({ code, stdout: stdout(), stderr: stderr(), timedOut, missing: false });
  const leaveBehind = () => {
    child.unref();
    const left = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    finish({ ...NOT_STARTED, stdout: stdout(), stderr: stderr(), timedOut, leftBehind: left });
  };
  options.signal?.addEventListener('abort', stop, { once: true });
  child.once('error', (error) => finish(notStartedResult(error)));
  child.once('close', ended);
  child.once('exit', (code) => {
    if (settled) return;
    clearTimeout(grace);
    grace = setTimeout(() => {
      killGroup(child);
      ended(code);
    }, PIPE_GRACE_MS);
  });
}

/**
 * Runs a short tool to its end: no shell, no inherited environment, limited output. Kills the whole process
 * group at the time limit or on abort. Does not wait for a process that the kernel blocks even then. Never
 * throws: a missing tool, a failure and a timeout are results.
 */
export function runCommand(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) return Promise.resolve(NOT_STARTED);
  // Spawning a process that fails because the program is missing blocks the event loop for some milliseconds,
  // like any other spawn.
  if (findProgram(file, options.path ?? DEFAULT_PATH) === null)
    return Promise.resolve({ ...NOT_STARTED, missing: true });
  return new Promise((resolve) => {
    try {
      watch(start(file, args, options), options, resolve);
    } catch (error) {
      resolve(notStartedResult(error));
    }
  });
}
