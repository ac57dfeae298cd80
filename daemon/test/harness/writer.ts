import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What a writer has left. `between`: of several files some are old and some new, each whole, and the next run ends it;
 * anything else is described, and must never be.
 */
export type Left = 'old' | 'new' | 'between' | `torn: ${string}`;

/** A write of the gateway that is begun: everything that it needs is open. */
export interface Begun {
  /** `acknowledge` is told each part at the moment at which its caller may rely on it. */
  write(acknowledge?: (what: string) => void): Promise<unknown>;
  /** Whether what the process goes by is what the files say; absent: it keeps nothing of them. */
  agrees?(): boolean;
  end?(): Promise<void> | void;
}

/** A way in which the gateway writes files, by its own code. */
export interface Writer {
  /** The least number of calls that it makes: fewer means that they are not counted. */
  readonly least: number;
  /** Lays down what was there before. */
  prepare(root: string): Promise<void> | void;
  begin(root: string): Promise<Begun> | Begun;
  left(root: string): Left;
  /** Whether a part that was acknowledged is there. */
  holds?(root: string, what: string): boolean;
  /** A native library writes beside the counted calls, so `cut` is no death; only a real kill is. */
  readonly native?: true;
  /** Its files are no secrets, or lie in a folder that is closed. */
  readonly open?: true;
  /** A part of a larger act, which gives what the system says a name of the catalogue. */
  readonly inner?: true;
  /** It may fail after its file is in place: the next run finds the new one. */
  readonly mayFailLate?: true;
  /** Its runs are long: one kind of error only, and with `calls` a few calls only unless the counts are whole. */
  readonly slow?: 'kind' | 'calls';
}

/** Writes a file for its owner alone, and its folder where that is missing. */
export function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

export const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** Which of two contents a file has; null = it is not there. */
export function which(path: string, before: string | null, after: string | null): Left {
  const text = textOf(path);
  if (text === before) return 'old';
  return text === after ? 'new' : `torn: ${JSON.stringify(text?.slice(0, 200))}`;
}

/** Every file below `root`, with its whole path. */
export const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
