/** Shorter buffers are not pooled: the allocator reuses them itself, while it returns long ones to the system. */
const MIN_POOLED_BYTES = 8 * 1024 * 1024;
/** Maximum bytes in the pool: the size of the largest body. */
const MAX_POOL_BYTES = 64 * 1024 * 1024;
/**
 * Pooled sizes are multiples of this, because the next turn of a long conversation is a little longer than
 * the last. Unwritten pages cost no memory.
 */
const SIZE_STEP_BYTES = 4 * 1024 * 1024;
/**
 * The pool is cleared this long after the last return, in milliseconds. It covers the pause between two turns
 * of a conversation with images or whole folders in its context.
 */
const IDLE_MS = 30_000;

/** Memory of buffers that are in use. */
const owned = new WeakSet<ArrayBufferLike>();
/** In the order in which they were returned, oldest first. */
let pool: ArrayBuffer[] = [];
let pooledBytes = 0;
let clearTimer: NodeJS.Timeout | null = null;

/**
 * Returns a buffer of `bytes` bytes with arbitrary content, from the pool if possible. Allocating 16 MB from
 * the system causes 4,000 page faults: a fifth of the CPU time of such a request, and several times that on a
 * virtual machine with shared memory.
 */
export function acquireBuffer(bytes: number): Buffer {
  const size = bytes < MIN_POOLED_BYTES ? bytes : Math.ceil(bytes / SIZE_STEP_BYTES) * SIZE_STEP_BYTES;
  const buffer = takePooled(bytes) ?? Buffer.allocUnsafeSlow(size).buffer;
  owned.add(buffer);
  return Buffer.from(buffer, 0, bytes);
}

/**
 * Removes and returns the shortest pooled buffer of at least `bytes` and at most twice that size. Of several
 * with the same size it returns the most recently used one. Returns null when there is none.
 */
function takePooled(bytes: number): ArrayBuffer | null {
  let best: ArrayBuffer | null = null;
  for (const buffer of pool) {
    if (buffer.byteLength < bytes || buffer.byteLength > bytes * 2) continue;
    if (best === null || buffer.byteLength <= best.byteLength) best = buffer;
  }
  if (best !== null) removeFromPool(best);
  return best;
}

/** Returns whether this memory belongs to a buffer that was acquired and not returned. */
export const ownsBuffer = (memory: ArrayBufferLike): memory is ArrayBuffer => owned.has(memory);

/**
 * Returns a buffer to the pool and detaches all views of it, which must not be read again. If the pool would
 * exceed its limit, the oldest buffers are freed first, so that sizes that are no longer requested do not
 * displace others.
 */
export function returnBuffer(memory: ArrayBuffer): void {
  owned.delete(memory);
  const { byteLength } = memory;
  if (byteLength < MIN_POOLED_BYTES || byteLength > MAX_POOL_BYTES) {
    memory.transfer(0);
    return;
  }
  for (const buffer of [...pool]) {
    if (pooledBytes + byteLength <= MAX_POOL_BYTES) break;
    removeFromPool(buffer);
    buffer.transfer(0);
  }
  pool.push(memory.transfer());
  pooledBytes += byteLength;
  if (clearTimer === null) clearTimer = setTimeout(clearBufferPool, IDLE_MS).unref();
  else clearTimer.refresh();
}

function removeFromPool(buffer: ArrayBuffer): void {
  pool = pool.filter((each) => each !== buffer);
  pooledBytes -= buffer.byteLength;
}

/** Frees all pooled buffers. */
export function clearBufferPool(): void {
  if (clearTimer !== null) clearTimeout(clearTimer);
  clearTimer = null;
  for (const buffer of pool) buffer.transfer(0);
  pool = [];
  pooledBytes = 0;
}
