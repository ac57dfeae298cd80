import { readFileSync, statSync } from 'node:fs';

/** One file of a package, by its path inside of it (no leading slash). */
export interface Entry {
  readonly path: string;
  /** Permission bits; the owner is always root. */
  readonly mode: number;
  readonly body: Buffer | { readonly file: string; readonly size: number };
}

export const PLAIN = 0o644;
export const PROGRAM = 0o755;

export const textEntry = (path: string, text: string, mode = PLAIN): Entry => ({
  path,
  mode,
  body: Buffer.from(text),
});

export const fileEntry = (path: string, file: string, mode = PLAIN): Entry => ({
  path,
  mode,
  body: { file, size: statSync(file).size },
});

export const sizeOf = ({ body }: Entry): number => (Buffer.isBuffer(body) ? body.length : body.size);

/** The bytes of an entry. Throws when the file has changed its size since it was listed. */
export function bytesOf(entry: Entry): Buffer {
  if (Buffer.isBuffer(entry.body)) return entry.body;
  const bytes = readFileSync(entry.body.file);
  if (bytes.length !== entry.body.size) throw new Error(`${entry.body.file} changed while it was packed`);
  return bytes;
}

export const below = (folder: string, entries: readonly Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));

/** Compares by bytes, independently of the locale. */
export const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);
