import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Maximum number of entries read from one kernel folder. */
const MAX_ENTRIES = 4096;
const MAX_TEXT = 65_536;

/**
 * Reads the kernel's file trees below `root`. Anything that cannot be read is null or empty. Paths are like
 * `sys/class/drm`.
 */
export interface Tree {
  text(path: string): Promise<string | null>;
  /** Parses a decimal or 0x number. Null when absent or invalid. */
  number(path: string): Promise<number | null>;
  names(folder: string): Promise<string[]>;
  /** Returns the last part of a link's target, for example the driver's name. */
  target(path: string): Promise<string | null>;
}

export function parseNumber(text: string | null): number | null {
  const trimmed = text?.trim() ?? '';
  if (!/^(0x[0-9a-f]+|-?\d+)$/i.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isSafeInteger(value) ? value : null;
}

export function openTree(root: string): Tree {
  const at = (path: string) => join(root === '' ? '/' : root, path);
  const text = (path: string) =>
    readFile(at(path), 'utf8').then(
      (content) => content.slice(0, MAX_TEXT).trim(),
      () => null,
    );
  return {
    text,
    number: async (path) => parseNumber(await text(path)),
    names: (folder) =>
      readdir(at(folder)).then(
        (names) => names.sort().slice(0, MAX_ENTRIES),
        () => [],
      ),
    target: (path) =>
      realpath(at(path)).then(
        (real) => basename(real),
        () => null,
      ),
  };
}
