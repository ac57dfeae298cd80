import type { Duplex } from 'node:stream';

/** What a stream hands to the one below it when several writes have come together. */
interface PendingWrite {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding | 'buffer';
}

/** What fits the pool that Node keeps for short Buffers; copying more would cost more than a list of pieces does. */
const MAX_MERGED_BYTES = Buffer.poolSize >>> 1;

/**
 * Writes that have come together leave a socket as one piece when they are short, such as a head and its body: the system call
 * for lists of pieces costs Node two microseconds more than one for a single piece, half of it for memory of its own.
 */
export function coalesceWrites(socket: Duplex): void {
  const writev = socket._writev?.bind(socket);
  if (writev === undefined) return;
  socket._writev = (chunks, done) => {
    const merged = mergeChunks(chunks as readonly PendingWrite[]);
    if (merged === null) writev(chunks, done);
    else socket._write(merged, 'buffer' as BufferEncoding, done);
  };
}

/** The pieces as one; null for those that are long, or texts whose length is not their number of characters. */
export function mergeChunks(chunks: readonly PendingWrite[]): Buffer | null {
  let length = 0;
  for (const { chunk, encoding } of chunks) {
    if (typeof chunk === 'string' && encoding !== 'latin1') return null;
    length += chunk.length;
  }
  if (length > MAX_MERGED_BYTES) return null;
  const merged = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { chunk } of chunks) {
    if (typeof chunk === 'string') merged.write(chunk, at, 'latin1');
    else merged.set(chunk, at);
    at += chunk.length;
  }
  return merged;
}
