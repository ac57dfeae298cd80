import { stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** A path that does not exist. */
export const NO_PATH = '';
/** A path whose disk does not respond or whose state cannot be read. Says nothing about a change. */
export const UNKNOWN_STATE = '?';

const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Returns the identity and time of a folder, which change when it is mounted and when an entry is added, removed or
 * renamed; or the size and time of a file. Never rejects.
 */
export async function pathState(path: string): Promise<string> {
  try {
    const stats = await stat(path);
    const { dev, ino, mtimeMs, size } = stats;
    return stats.isDirectory()
      ? `${dev}:${ino}:${mtimeMs}`
      : fileState({ sizeBytes: size, mtimeS: Math.floor(mtimeMs / 1000) });
  } catch (error) {
    return ABSENT.has((error as NodeJS.ErrnoException).code) ? NO_PATH : UNKNOWN_STATE;
  }
}

/** Returns the state of a file that a scan found. */
export const fileState = ({ sizeBytes, mtimeS }: { sizeBytes: number; mtimeS: number }): string =>
  `${sizeBytes} ${mtimeS}`;

/** Returns device and inode of the state of a folder; null when it is absent, unknown or that of a file. Pure. */
export const identityOf = (state: string): string | null =>
  state.includes(':') ? state.split(':').slice(0, 2).join(':') : null;

/** Returns whether another folder is at the path now: it was created or mounted. Pure. */
export function isOtherFolder(before: string, now: string): boolean {
  const identity = identityOf(now);
  return identity !== null && identity !== identityOf(before);
}

/** Returns whether a path is below a folder. Pure. */
export const isWithin = (folder: string, path: string): boolean => path.startsWith(join(folder, sep));
