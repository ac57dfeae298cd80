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
export function freeBytesForModels(state: string): Promise<number> {
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

/** A file that will still be written; pulls that need the same one name it alike. */
export interface MissingFile {
  readonly name: string;
  readonly bytes: number;
}

/** What makes a file of a repository the same for two pulls: its place and its content. */
export const fileName = (
  repo: string,
  { path, sha256, blob }: { path: string; sha256: string | null; blob: string | null },
): string => `${repo}/${path} ${sha256 ?? blob}`;

/** Bytes that all of these will write: a file that several need comes once, where most of it is there. */
export function bytesOf(missing: readonly MissingFile[]): number {
  const least = new Map<string, number>();
  for (const { name, bytes } of missing) least.set(name, Math.min(bytes, least.get(name) ?? bytes));
  return [...least.values()].reduce((all, bytes) => all + bytes, 0);
}

/** Whether a write failed for want of room. */
export const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
