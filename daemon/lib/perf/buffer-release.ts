import type { Duplex } from 'node:stream';
import { ownsBuffer, returnBuffer } from './large-buffer-pool.ts';

/** Shorter ones are left to the collector: letting them go would cost more than it saves. */
const MIN_DETACH_BYTES = 8 * 1024;

/** Memory that several short Buffers share has so many bytes at most. */
const MAX_SHARED_BYTES = Math.max(Buffer.poolSize, 64 * 1024);

/** Bytes that nobody reads again once a socket has written them. */
const released = new WeakSet<Uint8Array>();

/**
 * Gives the memory of long bytes back at once, where it is theirs alone and can be given away; nobody may read them again, they
 * are empty from here on. Left to the collector, what has passed lies around until a hundred megabytes of it have come
 * together, and what comes next is written to memory that no cache holds.
 */
export function detachBuffer(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < MIN_DETACH_BYTES || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer))
    return;
  try {
    buffer.transfer(0);
  } catch {
    // Memory that cannot be given away, such as that of WebAssembly.
  }
}

/** Marks bytes that are let go once a socket of {@link installWriteRelease} has written them. Answers the same bytes. */
export function releaseAfterWrite<T extends Uint8Array>(bytes: T): T {
  if (bytes.byteLength >= MIN_DETACH_BYTES) released.add(bytes);
  return bytes;
}

/** What sockets still write of some memory, and those of its bytes that go with the last of it. */
interface PendingWrites {
  writes: number;
  releaseBytes: Uint8Array | null;
}

const pendingWrites = new WeakMap<ArrayBufferLike, PendingWrites>();

/**
 * Lets a long body go, its room included, but what a socket of {@link installWriteRelease} still has to write of it is written first:
 * an engine may have answered before it has read all that it was asked.
 */
export function releaseWhenWritten(bytes: Uint8Array): void {
  if (!isTracked(bytes.buffer)) return;
  const pending = pendingWrites.get(bytes.buffer);
  if (pending === undefined) releaseBuffer(bytes);
  else pending.releaseBytes = bytes;
}

/** As {@link detachBuffer}, and of a room all of it. */
export function releaseBuffer(bytes: Uint8Array): void {
  if (ownsBuffer(bytes.buffer)) returnBuffer(bytes.buffer);
  else detachBuffer(bytes);
}

/** Memory whose every part is followed on its way out, the short ones too; what others share, such as Node's pool, is shorter. */
const isTracked = ({ byteLength }: ArrayBufferLike): boolean => byteLength > MAX_SHARED_BYTES;

/** Lets marked bytes go as soon as this socket has done with them, and others not before. */
export function installWriteRelease(socket: Duplex): void {
  const write = socket.write.bind(socket) as (
    chunk: unknown,
    encoding?: BufferEncoding,
    done?: Done,
  ) => boolean;
  socket.write = (chunk: unknown, encoding?: BufferEncoding | Done, done?: Done) => {
    const [coding, then] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, done];
    if (!(chunk instanceof Uint8Array) || (chunk.length < MIN_DETACH_BYTES && !isTracked(chunk.buffer)))
      return write(chunk, coding, then);
    const onWritten = trackWrite(chunk);
    return write(chunk, coding, (error) => {
      onWritten();
      then?.(error);
    });
  };
}

type Done = (error?: Error | null) => void;

/** Notes that a socket has these bytes to write, until the answer is called. */
function trackWrite(chunk: Uint8Array): () => void {
  const { buffer } = chunk;
  const pending = pendingWrites.get(buffer) ?? { writes: 0, releaseBytes: null };
  pending.writes++;
  pendingWrites.set(buffer, pending);
  return () => {
    if (released.has(chunk)) pending.releaseBytes = chunk;
    if (--pending.writes > 0) return;
    pendingWrites.delete(buffer);
    if (pending.releaseBytes !== null) releaseBuffer(pending.releaseBytes);
  };
}
