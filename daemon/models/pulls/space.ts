import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';

/** Left to everything else on the disk. */
export const KEEP_FREE_BYTES = 512 * 1024 * 1024;

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Bytes that this user may write below the models of a state folder, which may lie on a disk of their own. */
export function roomForModels(state: string): Promise<number> {
  return freeBytes(join(state, 'models')).catch((error: NodeJS.ErrnoException) => {
    // The first download makes the folder.
    if (error.code === 'ENOENT') return freeBytes(state);
    throw error;
  });
}

/** Bytes that this user may write below `folder`, at once; null where the system does not tell. */
export function freeBytesNow(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Throws `pull.no_space` unless `needed` more bytes fit beside what is kept free. */
export function checkSpace(free: number, needed: number): void {
  if (free - needed >= KEEP_FREE_BYTES) return;
  throw new GatewayError('pull.no_space', { details: { needed, free, kept_free: KEEP_FREE_BYTES } });
}

/** Whether a write failed for want of room. */
export const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
