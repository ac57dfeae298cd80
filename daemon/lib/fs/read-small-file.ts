import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * Returns the content of a regular file of at most `cap` bytes, or null for anything else. Never blocks on a
 * pipe and never reads more than the cap. Throws if the file cannot be opened.
 */
export function readSmallFile(path: string, cap: number): Buffer | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= cap ? readFileSync(file) : null;
  } finally {
    closeSync(file);
  }
}
