import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { GatewayError } from '../contract/errors.ts';

const refused = (why: string) =>
  new GatewayError('backup.write_failed', { message: `The backup was not written: ${why}.` });

const statsOrNull = (readStats: (path: string) => Promise<Stats>, path: string): Promise<Stats | null> =>
  readStats(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/**
 * Returns the real path for an archive of this name: behind its symlinks, at a regular file or at nothing.
 * Devices, pipes and folders are never replaced, and a symlink of another user is not followed. Throws
 * GatewayError and system errors.
 */
export async function archivePath(file: string): Promise<string> {
  const named = await statsOrNull(lstat, file);
  if (named === null) return file;
  const reached = await statsOrNull(stat, file);
  if (reached === null) throw refused('the file is a broken symlink');
  if (!reached.isFile()) throw refused('the file is a folder, a device or a pipe');
  if (!named.isSymbolicLink()) return file;
  if (named.uid !== 0 && named.uid !== process.geteuid?.())
    throw refused('the file is a symlink of another user');
  return realpath(file);
}
