/** Lists the system calls of a process, or makes them fail, with strace. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { text } from 'node:stream/consumers';

export interface SystemCall {
  readonly name: string;
  /** Number of the call of this name in its thread, from 1, as strace counts. */
  readonly nth: number;
  /** Paths of the files and descriptors of the call. */
  readonly paths: readonly string[];
  /** Its arguments without data. */
  readonly words: string;
  /** Whether the fault was injected into it. */
  readonly hit: boolean;
  readonly failed: boolean;
}

export interface Traced {
  readonly calls: readonly SystemCall[];
  readonly out: string;
  readonly err: string;
  /** The exit code, or the signal that ended the process. */
  readonly ended: number | string | null;
}

export interface Injection {
  readonly name: string;
  readonly nth: number;
  /** As strace writes it: `error=ENOSPC`, `signal=SIGKILL`. */
  readonly what: string;
}

/** Traced calls; a question mark where an architecture may lack one. */
const TRACED = [
  ...['openat', '?open', 'pread64', 'pwrite64', 'write', 'fsync', 'fdatasync', 'ftruncate', 'fallocate'],
  ...['?rename', 'renameat', 'renameat2', '?unlink', 'unlinkat', '?link', 'linkat', '?mkdir', 'mkdirat'],
  ...['fchmod', '?chmod', 'fchmodat', 'fchown', 'copy_file_range'],
];

/** Returns why strace cannot trace a process here, or null. */
export async function whyNotTraceable(strace: string): Promise<string | null> {
  const { ended, err, calls } = await traced(strace, [process.execPath, '-e', ''], null);
  if (ended === 0 && calls.length > 0) return null;
  return err.split('\n')[0]?.slice(0, 200) || `it ended with ${ended}`;
}

/** Time limit of a traced program. */
const LIMIT_MS = 60_000;

/** Runs a program under strace, for at most a minute. libuv has one thread, so that calls are numbered predictably. */
export async function traced(
  strace: string,
  command: readonly string[],
  injection: Injection | null,
): Promise<Traced> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-strace-'));
  const list = join(folder, 'calls');
  // A signal must be injected while every thread is stopped, which seccomp-bpf does not do.
  const quick = injection?.what.startsWith('signal') ? [] : ['--seccomp-bpf'];
  const inject = injection ? [`--inject=${injection.name}:${injection.what}:when=${injection.nth}`] : [];
  try {
    const child = spawn(
      strace,
      ['-f', ...quick, '-y', '-s', '0', '-o', list, `--trace=${TRACED}`, ...inject, ...command],
      { env: { UV_THREADPOOL_SIZE: '1' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    let timedOut = false;
    // Kill the whole group: without its tracer the program continues and keeps the pipes open.
    const limit = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, LIMIT_MS);
    const ended = new Promise<number | string | null>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(timedOut ? 'it did not end' : (code ?? signal)));
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    clearTimeout(limit);
    return { ended: await ended, out, err, calls: callsIn(readIfExists(list)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** `PID name(words` and the rest. A call that is interrupted by another thread's line continues as `PID <... name resumed>`. */
const LINE = /^(\d+) +(\w+)\((.*)$/;
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/;

/** Parses the calls of a strace log. */
export function callsIn(list: string): SystemCall[] {
  const calls: (SystemCall & { hit: boolean; failed: boolean })[] = [];
  const counts = new Map<string, number>();
  const latest = new Map<string, number>();
  for (const line of list.split('\n')) {
    const resumed = RESUMED.exec(line);
    const [, thread = '', name = '', words = ''] = LINE.exec(line) ?? [];
    if (resumed !== null) {
      const call = calls[latest.get(resumed[1] ?? '') ?? -1];
      if (call !== undefined) Object.assign(call, outcomeOf(resumed[2] ?? ''));
      continue;
    }
    if (name === '') continue;
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, nth);
    latest.set(thread, calls.length);
    calls.push({ name, nth, words, paths: pathsIn(words), ...outcomeOf(words) });
  }
  return calls;
}

const outcomeOf = (words: string) => ({ hit: words.endsWith('(INJECTED)'), failed: / = -1 /.test(words) });

const pathsIn = (words: string): string[] => [
  ...[...words.matchAll(/"(\/[^"]*)"/g)].map(([, path = '']) => path),
  ...[...words.matchAll(/^\d+<(\/[^>]*)>/g)].map(([, path = '']) => path),
];

/** Whether a call concerns a path below `root`. */
export const isBelow = (root: string, { paths }: SystemCall): boolean =>
  paths.some((path) => path === root || path.startsWith(root + sep));

/** Returns the calls that create or change paths below `root` to be accessible by others than the owner. `before`: existing paths. */
export function widened(calls: readonly SystemCall[], root: string, before: readonly string[]): string[] {
  const known = new Set(before);
  const found: string[] = [];
  for (const call of calls) {
    if (call.failed || !isBelow(root, call)) continue;
    const mode = modeOf(call, known);
    if (mode !== null && (mode & 0o077) !== 0) found.push(`${call.name}(${call.words}`);
    for (const path of call.paths) known.add(path);
  }
  return found;
}

/** Returns the mode that a call sets, or null. */
function modeOf({ name, words, paths }: SystemCall, known: ReadonlySet<string>): number | null {
  const opens = name === 'openat' || name === 'open';
  if (opens && (!words.includes('O_CREAT') || paths.every((path) => known.has(path)))) return null;
  if (!opens && !/chmod|mkdir/.test(name)) return null;
  const octal = /, (0[0-7]*)\) /.exec(words)?.[1] ?? '';
  return octal === '' ? null : Number.parseInt(octal, 8);
}
