import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The files after a write. `between`: some files are old and some new, each complete, and the next run finishes the write;
 * `torn`: a violation, with its description.
 */
export type Outcome = 'old' | 'new' | 'between' | `torn: ${string}`;

/** A prepared write: everything that it needs is open. */
export interface PendingWrite {
  /** Calls `acknowledge` for each part when its caller may rely on it. */
  write(acknowledge?: (what: string) => void): Promise<unknown>;
  /** Whether the state of the process equals the files; absent when it has no such state. */
  agrees?(): boolean;
  end?(): Promise<void> | void;
}

/** One way in which the gateway writes files, with its real code. */
export interface Writer {
  /** The minimum number of calls; fewer means that some are not counted. */
  readonly minCalls: number;
  /** Writes the files that exist before the write. */
  prepare(root: string): Promise<void> | void;
  begin(root: string): Promise<PendingWrite> | PendingWrite;
  outcome(root: string): Outcome;
  /** Whether an acknowledged part exists. */
  contains?(root: string, what: string): boolean;
  /** A native library makes calls that are not counted, so `cut` does not simulate a death; only a real kill does. */
  readonly native?: true;
  /** Its files are not secret, or are in a private folder. */
  readonly isPublic?: true;
  /** Part of a larger operation, which converts system errors to errors of the catalogue. */
  readonly isInner?: true;
  /** The write can fail after its file is in place; the next run finds the new file. */
  readonly canFailLate?: true;
  /** Its runs take long: test one error code only; with `calls`, also a few calls only unless counts are full. */
  readonly slow?: 'kind' | 'calls';
}

/** Writes a file that only its owner can read, and creates its folder. */
export function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

export const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** Returns which of two contents a file has; null = it does not exist. */
export function compareFile(path: string, before: string | null, after: string | null): Outcome {
  const text = textOf(path);
  if (text === before) return 'old';
  return text === after ? 'new' : `torn: ${JSON.stringify(text?.slice(0, 200))}`;
}

/** Every file below `root`, as an absolute path. */
export const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
