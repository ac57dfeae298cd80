import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * The bytes of a regular file of at most `cap` bytes; null for anything else that has this name. Never waits for a pipe and never
 * reads more than the cap. Throws what opening throws.
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
