import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { runCommand } from '../lib/process/run-command.ts';

const MAX_BYTES = 4 << 20;

/** A program that reads the paths in its arguments and prints one line of JSON for each. */
export interface ChildProgram<T> {
  readonly path: string;
  /** Paths per process. */
  readonly batch: number;
  /** A crafted file must not exhaust the machine's memory. */
  readonly heapMib: number;
  /** Milliseconds for the start of a process, and per path. */
  readonly time: { readonly start: number; readonly file: number };
  /** The outcome of a path at which the process ended. */
  ended(path: string, timedOut: boolean): T;
}

/** Parses the complete lines of the output. A truncated last line is dropped. */
export function parseLines<T>(stdout: string): T[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as T];
    } catch {
      return [];
    }
  });
}

/**
 * Returns outcomes of the first of `paths`, at least one. If the process was ended by time or memory, the last outcome
 * is that path's.
 */
async function runBatch<T extends { readonly path: string }>(
  program: ChildProgram<T>,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<T[]> {
  const { time, heapMib } = program;
  const result = await runCommand(
    process.execPath,
    [`--max-old-space-size=${heapMib}`, program.path, ...paths],
    {
      timeoutMs: time.start + time.file * paths.length,
      maxBytes: MAX_BYTES,
      signal,
      env: compileCacheEnv(),
    },
  );
  const outcomes = new Map(parseLines<T>(result.stdout).map((outcome) => [outcome.path, outcome]));
  const ended = paths.findIndex((path) => !outcomes.has(path));
  const reached = ended === -1 || signal?.aborted ? paths : paths.slice(0, ended + 1);
  return reached.map((path) => outcomes.get(path) ?? program.ended(path, result.timedOut));
}

/**
 * Runs a program over paths in child processes, so that a crafted file can neither harm the daemon nor hide later
 * files. Returns one outcome per path, in order. Never throws.
 */
export async function runInChild<T extends { readonly path: string }>(
  program: ChildProgram<T>,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<T[]> {
  const outcomes: T[] = [];
  while (outcomes.length < paths.length) {
    const next = paths.slice(outcomes.length, outcomes.length + program.batch);
    outcomes.push(...(await runBatch(program, next, signal)));
  }
  return outcomes;
}
