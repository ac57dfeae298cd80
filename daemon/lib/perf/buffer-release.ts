import type { Duplex } from 'node:stream';

/** Shorter buffers are left to the garbage collector: detaching them would cost more than it saves. */
const MIN_DETACH_BYTES = 8 * 1024;

/** Maximum size of memory that several short Buffers share. */
const MAX_SHARED_BYTES = Math.max(Buffer.poolSize, 64 * 1024);

/** Memory of {@link allocateReleasable}. */
const releasable = new WeakSet<ArrayBufferLike>();

/**
 * Detaches the ArrayBuffer of long bytes so that their memory is freed now. Does nothing if the memory is
 * shared or cannot be transferred. The bytes are empty afterwards and must not be read again. Without this,
 * used buffers accumulate to about a hundred megabytes before a collection, and new data is written to memory
 * that is not in the CPU cache.
 */
export function detachBuffer(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < MIN_DETACH_BYTES || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer))
    return;
  try {
    buffer.transfer(0);
  } catch {
    // Some memory cannot be transferred, for example that of WebAssembly.
  }
}

/**
 * Returns a buffer with separate memory and arbitrary content. `releaseBuffer` frees all of it, also for a view
 * of a part.
 */
export function allocateReleasable(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  releasable.add(buffer.buffer);
  return buffer;
}

/** Number of pending writes of some memory, and the bytes to release after the last one. */
interface PendingWrites {
  writes: number;
  releaseBytes: Uint8Array | null;
}

const pendingWrites = new WeakMap<ArrayBufferLike, PendingWrites>();

/**
 * Releases a long body after all pending writes of sockets with {@link
 * installWriteRelease}. An engine may respond before it has read its whole request.
 */
export function releaseWhenWritten(bytes: Uint8Array): void {
  if (!isTracked(bytes.buffer)) return;
  const pending = pendingWrites.get(bytes.buffer);
  if (pending === undefined) releaseBuffer(bytes);
  else pending.releaseBytes = bytes;
}

/** Frees memory of `allocateReleasable`. Detaches other bytes as `detachBuffer` does. */
export function releaseBuffer(bytes: Uint8Array): void {
  if (releasable.has(bytes.buffer)) (bytes.buffer as ArrayBuffer).transfer(0);
  else detachBuffer(bytes);
}

/**
 * Returns whether all writes of this memory are tracked, including short ones. Shared memory, such as Node's
 * pool, is smaller.
 */
const isTracked = ({ byteLength }: ArrayBufferLike): boolean => byteLength > MAX_SHARED_BYTES;

/** Counts the pending writes of this socket for {@link releaseWhenWritten}. */
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

/** Registers a pending write. Call the returned function when the write has finished. */
function trackWrite(chunk: Uint8Array): () => void {
  const { buffer } = chunk;
  const pending = pendingWrites.get(buffer) ?? { writes: 0, releaseBytes: null };
  pending.writes++;
  pendingWrites.set(buffer, pending);
  return () => {
    if (--pending.writes > 0) return;
    pendingWrites.delete(buffer);
    if (pending.releaseBytes !== null) releaseBuffer(pending.releaseBytes);
  };
}
