import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';

/** Bytes that stay free for other uses of the disk. */
export const KEEP_FREE_BYTES = 512 * 1024 * 1024;

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Returns the bytes that this user may write to the models folder of a state folder, which may be on its own
 * disk.
 */
export function freeBytesForModels(state: string): Promise<number> {
  return freeBytes(join(state, 'models')).catch((error: NodeJS.ErrnoException) => {
    // The first download creates the folder.
    if (error.code === 'ENOENT') return freeBytes(state);
    throw error;
  });
}

/** Returns the bytes that this user may write below `folder`, synchronously. Null when unknown. */
export function freeBytesNow(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Throws `pull.no_space` unless `needed` bytes fit in addition to the reserve. */
export function checkSpace(free: number, needed: number): void {
  if (free - needed >= KEEP_FREE_BYTES) return;
  throw new GatewayError('pull.no_space', { details: { needed, free, kept_free: KEEP_FREE_BYTES } });
}

/** A file that will be written. Pulls that need the same file use the same name. */
export interface MissingFile {
  readonly name: string;
  readonly bytes: number;
}

/** Identifies a file across pulls by its path and content. */
export const fileName = (
  repo: string,
  { path, sha256, blob }: { path: string; sha256: string | null; blob: string | null },
): string => `${repo}/${path} ${sha256 ?? blob}`;

/**
 * Returns the bytes that all of these will write. A file needed several times counts once, where most of it
 * exists.
 */
export function bytesOf(missing: readonly MissingFile[]): number {
  const least = new Map<string, number>();
  for (const { name, bytes } of missing) least.set(name, Math.min(bytes, least.get(name) ?? bytes));
  return [...least.values()].reduce((all, bytes) => all + bytes, 0);
}

/** Returns whether a write failed because the disk is full. */
export const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
