import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { findProgram } from './find-program.ts';

export interface RunOptions {
  /** Milliseconds until the whole process group is killed. */
  timeoutMs: number;
  /** Most bytes kept of stdout and of stderr, each; what comes after is dropped. */
  maxBytes: number;
  /** Variables beside PATH and LC_ALL; nothing is inherited from the daemon. */
  env?: Readonly<Record<string, string>>;
  /** Where the program is looked for. */
  path?: string;
  /** Ends the program early, as the time limit does. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** Exit status; null when it was killed by a signal or never started. */
  code: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** True when there is no such program, or none that may be run. */
  missing: boolean;
  /** Only for a process that could not be ended, because the kernel holds it: resolves once it is gone. */
  leftBehind?: Promise<void>;
}

/** Folders that are searched when the caller names none. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Grandchildren may hold the pipes open after the program ended; this long is waited for their last words. */
const PIPE_GRACE_MS = 250;
/** A process that was killed ends within a moment, unless it hangs in a driver; nobody waits longer for it. */
const KILL_GRACE_MS = 500;
const NOT_STARTED: RunResult = { code: null, stdout: '', stderr: '', timedOut: false, missing: false };

/** Keeps the first `maxBytes` of a stream, and goes on draining it so that the writer never blocks. */
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

/** Ends a process and its children at once. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** Starts a program in a process group of its own: no shell, nothing of the daemon's environment. */
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

/** The answer for a program that could not be started at all. */
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
 * Runs a short tool to its end: no shell, no inherited environment, output capped, the whole process group killed
 * at the time limit or on abort; one that the kernel holds even then is left behind. Never throws: a missing tool, a failure and
 * a time-out are answers.
 */
export function runCommand(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) return Promise.resolve(NOT_STARTED);
  // A process that is only begun to find no program costs as much as any other: the event loop stands still for some ms.
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
