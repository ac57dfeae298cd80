import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ROOT } from '../../../daemon/lib/fs/root.ts';

/** The cache for installed and downloaded files of system tests. Names of entries contain a hash, so an entry never changes. */
export const CACHE = join(ROOT, '.cache', 'system');

const SCRATCH = /^\.scratch-(\d+)-/;

/** Removes scratch folders of processes that have ended: an interrupted run leaves one. */
function removeStaleScratch(cache: string): void {
  for (const name of readdirSync(cache)) {
    const pid = SCRATCH.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(cache, name), { recursive: true, force: true });
    }
  }
}

/**
 * Returns the folder `name` of the cache. When it is absent, `fill` fills a scratch folder, which is then renamed: the
 * entry is complete or absent, also after an interrupted run or with two runs at the same time.
 */
export async function cachedFolder(
  name: string,
  fill: (scratch: string) => Promise<void>,
  cache = CACHE,
): Promise<string> {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  removeStaleScratch(cache);
  const scratch = mkdtempSync(join(cache, `.scratch-${process.pid}-`));
  try {
    await fill(scratch);
    renameSync(scratch, folder);
  } catch (error) {
    // Another process has finished the same entry first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The first 16 digits of the SHA-256 of texts: the version in the name of a cache entry. */
export const shortHash = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);
