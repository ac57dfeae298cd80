/** Real system calls of a real process, listed or made to fail, by strace. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { text } from 'node:stream/consumers';

export interface SystemCall {
  readonly name: string;
  /** Which call of this name it is of its thread, from 1: as strace counts. */
  readonly nth: number;
  /** What it is about: files by their paths, descriptors by what they were opened on. */
  readonly paths: readonly string[];
  /** Its arguments, with data left out. */
  readonly words: string;
  /** Whether the fault was put into it. */
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

/** Calls that are seen; a question mark where a processor may lack one. */
const SEEN = [
  ...['openat', '?open', 'pread64', 'pwrite64', 'write', 'fsync', 'fdatasync', 'ftruncate', 'fallocate'],
  ...['?rename', 'renameat', 'renameat2', '?unlink', 'unlinkat', '?link', 'linkat', '?mkdir', 'mkdirat'],
  ...['fchmod', '?chmod', 'fchmodat', 'fchown', 'copy_file_range'],
];

/** Why strace can't follow a process here; null when it can. */
export async function cannotTrace(strace: string): Promise<string | null> {
  const { ended, err, calls } = await traced(strace, [process.execPath, '-e', ''], null);
  if (ended === 0 && calls.length > 0) return null;
  return err.split('\n')[0]?.slice(0, 200) || `it ended with ${ended}`;
}

/** Most time that a traced program has. */
const LIMIT_MS = 60_000;

/** Runs a program to its end under strace, at most a minute. One helper thread does what is not done by the main one. */
export async function traced(
  strace: string,
  command: readonly string[],
  injection: Injection | null,
): Promise<Traced> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-strace-'));
  const list = join(folder, 'calls');
  // Only a call at which every thread is stopped can be the end of a process.
  const quick = injection?.what.startsWith('signal') ? [] : ['--seccomp-bpf'];
  const inject = injection ? [`--inject=${injection.name}:${injection.what}:when=${injection.nth}`] : [];
  try {
    const child = spawn(
      strace,
      ['-f', ...quick, '-y', '-s', '0', '-o', list, `--trace=${SEEN}`, ...inject, ...command],
      { env: { UV_THREADPOOL_SIZE: '1' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    let late = false;
    // The whole group: a tracer that is ended lets go of its program, which goes on and holds the pipes.
    const limit = setTimeout(() => {
      late = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, LIMIT_MS);
    const ended = new Promise<number | string | null>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(late ? 'it did not end' : (code ?? signal)));
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    clearTimeout(limit);
    return { ended: await ended, out, err, calls: callsIn(readIfThere(list)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** `PID name(words` and what follows; a call that another thread's line cut in two goes on as `PID <... name resumed>`. */
const LINE = /^(\d+) +(\w+)\((.*)$/;
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/;

/** The calls of a list that strace wrote. */
export function callsIn(list: string): SystemCall[] {
  const calls: (SystemCall & { hit: boolean; failed: boolean })[] = [];
  const counts = new Map<string, number>();
  const latest = new Map<string, number>();
  for (const line of list.split('\n')) {
    const resumed = RESUMED.exec(line);
    const [, thread = '', name = '', words = ''] = LINE.exec(line) ?? [];
    if (resumed !== null) {
      const call = calls[latest.get(resumed[1] ?? '') ?? -1];
      if (call !== undefined) Object.assign(call, endOf(resumed[2] ?? ''));
      continue;
    }
    if (name === '') continue;
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, nth);
    latest.set(thread, calls.length);
    calls.push({ name, nth, words, paths: pathsIn(words), ...endOf(words) });
  }
  return calls;
}

const endOf = (words: string) => ({ hit: words.endsWith('(INJECTED)'), failed: / = -1 /.test(words) });

const pathsIn = (words: string): string[] => [
  ...[...words.matchAll(/"(\/[^"]*)"/g)].map(([, path = '']) => path),
  ...[...words.matchAll(/^\d+<(\/[^>]*)>/g)].map(([, path = '']) => path),
];

/** Whether a call is about something below `root`. */
export const isBelow = (root: string, { paths }: SystemCall): boolean =>
  paths.some((path) => path === root || path.startsWith(root + sep));

/** Below `root`: files and folders that were made wider than their owner, or widened; `before` are those that were there. */
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

/** The mode that a call gives; null for one that gives none. */
function modeOf({ name, words, paths }: SystemCall, known: ReadonlySet<string>): number | null {
  const opens = name === 'openat' || name === 'open';
  if (opens && (!words.includes('O_CREAT') || paths.every((path) => known.has(path)))) return null;
  if (!opens && !/chmod|mkdir/.test(name)) return null;
  const octal = /, (0[0-7]*)\) /.exec(words)?.[1] ?? '';
  return octal === '' ? null : Number.parseInt(octal, 8);
}
