import type { Stats } from 'node:fs';
import { link, lstat, mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import { type FaultHook, syncFolder, type TempAccess, writeTemp } from './temp-file.ts';

/** Why a file was not replaced. In every case the old file is unchanged. */
export type WriteRefusal = 'symlink' | 'owner' | 'not_a_file' | 'changed' | 'io';

/** Thrown when a file was not replaced. The message contains the base name of the file, never its path. */
export class FileWriteError extends Error {
  readonly reason: WriteRefusal;
  /** System error code such as ENOSPC, if there is one. */
  readonly code: string | null;

  constructor(path: string, reason: WriteRefusal, what: string, cause?: unknown) {
    super(`${basename(path)} ${what}`, { cause });
    this.name = 'FileWriteError';
    this.reason = reason;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code ?? null;
  }
}

export interface ReplaceOptions {
  /** Mode of a new file. An existing file keeps at most these bits. */
  mode: number;
  /** Folder that a symbolic link may point into. Default: the folder of `path`. */
  within?: string;
  /** Refuses when the existing file belongs to another user. */
  sameOwner?: boolean;
  /** Called right before the rename. Throwing cancels the replacement. */
  beforeRename?: () => Promise<void>;
  faults?: FaultHook;
}

/**
 * Replaces a file completely or not at all: writes a temporary file in the same folder, flushes it, renames
 * it and flushes the folder. The mode is never wider than before. A symbolic link is followed and kept. A
 * link that dangles, loops or leaves `within` is refused. `durable` is false when only the last flush failed:
 * the new file exists, but may not survive a power failure. Throws FileWriteError, in which case nothing has
 * changed.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  options: ReplaceOptions,
): Promise<{ durable: boolean }> {
  const target = await targetOf(path, options.within ?? dirname(path));
  const access = accessFor(path, target.existing, options);
  try {
    const temp = await writeTemp(target.path, bytes, access, options.faults);
    try {
      options.faults?.('rename');
      await options.beforeRename?.();
      await rename(temp, target.path);
    } catch (error) {
      await unlink(temp).catch(() => {});
      throw error;
    }
  } catch (error) {
    throw ioError(path, error);
  }
  return { durable: await syncParentFolder(target.path, options.faults) };
}

/** Throws FileWriteError if `replaceFile` would refuse `path`. */
export async function assertReplaceable(
  path: string,
  options: Pick<ReplaceOptions, 'within'>,
): Promise<void> {
  await targetOf(path, options.within ?? dirname(path));
}

/** Throws FileWriteError when `path` is not a regular file. Rethrows errors of `stat`. */
export async function assertRegularFile(path: string): Promise<void> {
  regularFile(path, await stat(path));
}

/**
 * Creates a file with its complete content in one step. Returns false when the name exists already, also as a
 * dangling link. Of several processes exactly one gets true, and the others find a complete file. Throws
 * FileWriteError.
 */
export async function createExclusive(path: string, bytes: Uint8Array, mode: number): Promise<boolean> {
  try {
    const temp = await writeTemp(path, bytes, { mode });
    try {
      await link(temp, path).catch((error: NodeJS.ErrnoException) =>
        createWithoutLink(error, path, bytes, mode),
      );
    } finally {
      await unlink(temp).catch(() => {});
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw ioError(path, error);
  }
  await syncParentFolder(path);
  return true;
}

/** Fallback for file systems without hard links: a plain exclusive create. */
async function createWithoutLink(
  error: NodeJS.ErrnoException,
  path: string,
  bytes: Uint8Array,
  mode: number,
) {
  if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')) throw error;
  const handle = await open(path, 'wx', mode);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (failure) {
    await unlink(path).catch(() => {});
    throw failure;
  } finally {
    await handle.close();
  }
}

interface Target {
  path: string;
  existing: Stats | null;
}

async function targetOf(path: string, within: string): Promise<Target> {
  const own = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw ioError(path, error);
  });
  if (own === null) return { path, existing: null };
  if (!own.isSymbolicLink()) return { path, existing: regularFile(path, own) };
  const [real, folder] = await Promise.all([realpath(path), realpath(within)]).catch((error) => {
    throw new FileWriteError(path, 'symlink', 'is a symbolic link that leads nowhere', error);
  });
  if (!real.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new FileWriteError(path, 'symlink', 'is a symbolic link that leaves its folder');
  }
  return { path: real, existing: regularFile(path, await stat(real)) };
}

function regularFile(path: string, stats: Stats): Stats {
  if (!stats.isFile()) throw new FileWriteError(path, 'not_a_file', 'is not a regular file');
  return stats;
}

function accessFor(path: string, existing: Stats | null, options: ReplaceOptions): TempAccess {
  if (existing === null) return { mode: options.mode };
  const mode = existing.mode & options.mode & 0o777;
  const uid = process.geteuid?.() ?? existing.uid;
  const gid = process.getegid?.() ?? existing.gid;
  if (existing.uid !== uid && options.sameOwner) {
    throw new FileWriteError(path, 'owner', 'belongs to another user');
  }
  if (existing.uid === uid && existing.gid === gid) return { mode };
  return { mode, uid: uid === 0 ? existing.uid : uid, gid: existing.gid };
}

async function syncParentFolder(path: string, faults?: FaultHook): Promise<boolean> {
  try {
    faults?.('fsyncdir');
    await syncFolder(dirname(path));
    return true;
  } catch {
    return false;
  }
}

/** What a system error code says about a configuration file. A rename over a mount point fails with EBUSY. */
const CAUSES: Readonly<Record<string, string>> = {
  EBUSY: 'is a mount of its own and cannot be replaced (EBUSY); mount its folder instead',
  EROFS: 'is on a read-only file system (EROFS)',
  ENOSPC: 'could not be written because the disk is full (ENOSPC)',
  EDQUOT: 'could not be written because the quota is used up (EDQUOT)',
};

/** Returns the error of a change that failed. `what` describes a failure whose code says nothing more. */
function ioError(path: string, error: unknown, what = 'could not be written'): FileWriteError {
  if (error instanceof FileWriteError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
  return new FileWriteError(path, 'io', CAUSES[code] ?? `${what} (${code})`, error);
}

/**
 * Creates a missing folder for the owner only. Its parent must exist: a recursive call of Node reports a read-only
 * file system as ENOENT. Rejects with FileWriteError.
 */
export async function ensureFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw ioError(folder, error, 'could not be created');
  });
}

/** Deletes a file. Returns false when it does not exist. Rejects with FileWriteError. */
export async function deleteFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw ioError(path, error, 'could not be deleted');
  }
  await syncParentFolder(path);
  return true;
}
