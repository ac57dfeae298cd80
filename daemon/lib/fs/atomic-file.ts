import type { Stats } from 'node:fs';
import { link, lstat, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import { type FaultHook, syncFolder, type TempAccess, writeTemp } from './temp-file.ts';

/** Why a file was not replaced; in every case the old file is as it was. */
export type WriteRefusal = 'symlink' | 'owner' | 'not_a_file' | 'changed' | 'io';

/** A replacement that did not happen. The message names the file by its base name only, never by its path. */
export class FileWriteError extends Error {
  readonly reason: WriteRefusal;
  /** System error code such as ENOSPC, when there is one. */
  readonly code: string | null;

  constructor(path: string, reason: WriteRefusal, what: string, cause?: unknown) {
    super(`${basename(path)} ${what}`, { cause });
    this.name = 'FileWriteError';
    this.reason = reason;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code ?? null;
  }
}

export interface ReplaceOptions {
  /** Mode of a new file, and the most that an existing one keeps. */
  mode: number;
  /** Folder that a symbolic link may point into; default the folder of `path`. */
  within?: string;
  /** Refuse when the existing file belongs to another user. */
  sameOwner?: boolean;
  /** Last look before the swap; throwing cancels it. */
  beforeRename?: () => Promise<void>;
  faults?: FaultHook;
}

/**
 * Replaces a file wholly or not at all: temporary file in the same folder, flush, rename, flush of the folder.
 * The mode is never wider than before. A symbolic link is written through and stays; one that dangles, loops or
 * leaves `within` is refused. `durable` is false when only the last flush failed: the new file is in place, but may
 * not survive a power cut. Throws FileWriteError; then nothing has changed.
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

/** Looks at what lies at `path` as `replaceFile` would. Throws FileWriteError for what it would refuse. */
export async function assertReplaceable(
  path: string,
  options: Pick<ReplaceOptions, 'within'>,
): Promise<void> {
  await targetOf(path, options.within ?? dirname(path));
}

/** Throws FileWriteError when `path` leads to something else than a regular file, and what `stat` throws. */
export async function assertRegularFile(path: string): Promise<void> {
  regularFile(path, await stat(path));
}

/**
 * Creates a file with its whole content at once, and answers false when the name is taken (by anything, a dangling
 * link too): of several processes exactly one gets true, and the others find a complete file. Throws FileWriteError.
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

/** File systems without hard links: plain exclusive create. */
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

function ioError(path: string, error: unknown): FileWriteError {
  if (error instanceof FileWriteError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
  return new FileWriteError(path, 'io', `could not be written (${code})`, error);
}
