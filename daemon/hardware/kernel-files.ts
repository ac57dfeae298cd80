import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a short file of /proc or /sys synchronously (these never wait for a disk). Null when it cannot be
 * read.
 */
export function kernelText(root: string, path: string): string | null {
  try {
    return readFileSync(join(root === '' ? '/' : root, path), 'utf8');
  } catch {
    return null;
  }
}

export function kernelNames(root: string, folder: string): string[] {
  try {
    return readdirSync(join(root === '' ? '/' : root, folder));
  } catch {
    return [];
  }
}
