import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';

/** The expected content of a file. */
export interface Expected {
  readonly size: number;
  /** SHA-256 of the content. Null when only `blob` is known. */
  readonly sha256: string | null;
  /** Git's object id: SHA-1 over `blob SIZE\0` and the content. */
  readonly blob: string | null;
}

const STEP = 1 << 20;

/**
 * Returns whether the file at `path` has the expected content, read from the disk and checked with the
 * strongest known digest. Size alone is not enough: returns false without a digest. Rejects with the signal's
 * reason or a system error.
 */
export async function matchesExpected(
  path: string,
  expected: Expected,
  signal: AbortSignal,
): Promise<boolean> {
  const sum = expected.sha256 ?? expected.blob;
  if (sum === null) return false;
  const hash = createHash(expected.sha256 === null ? 'sha1' : 'sha256');
  if (expected.sha256 === null) hash.update(`blob ${expected.size}\0`);
  const handle = await open(path, 'r');
  try {
    if ((await handle.stat()).size !== expected.size) return false;
    const buffer = Buffer.allocUnsafe(STEP);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, STEP);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      await breathe();
    }
  } finally {
    await handle.close();
  }
  return hash.digest('hex') === sum;
}
