/** Shorter ones are not kept: the allocator has them at hand, while it returns long ones to the system. */
const MIN_POOLED_BYTES = 8 * 1024 * 1024;
/** Bytes that are kept at most: as many as the longest body has. */
const MAX_POOL_BYTES = 64 * 1024 * 1024;
/**
 * Rooms that are kept have a multiple of so many bytes: the next turn of a long talk is a little longer than the last. What nobody writes
 * of them costs no memory.
 */
const SIZE_STEP_BYTES = 4 * 1024 * 1024;
/**
 * How long they are kept behind the last one that was given back, milliseconds: as long as who talks with pictures or whole folders
 * in his context may wait between two turns.
 */
const IDLE_MS = 30_000;

/** Memory that is a room's, for as long as it is lent. */
const owned = new WeakSet<ArrayBufferLike>();
/** The one that was given back first comes first. */
let pool: ArrayBuffer[] = [];
let pooledBytes = 0;
let clearTimer: NodeJS.Timeout | null = null;

/**
 * Room for so many bytes that belong together and come bit by bit; what it holds is anything. It may be that of a body that is over:
 * taken anew from the system, 16 MB are 4,000 page faults, a fifth of the CPU of such a chat, and on a machine that shares its memory
 * with others several times the chat.
 */
export function acquireBuffer(bytes: number): Buffer {
  const size = bytes < MIN_POOLED_BYTES ? bytes : Math.ceil(bytes / SIZE_STEP_BYTES) * SIZE_STEP_BYTES;
  const buffer = takePooled(bytes) ?? Buffer.allocUnsafeSlow(size).buffer;
  owned.add(buffer);
  return Buffer.from(buffer, 0, bytes);
}

/** The shortest one that is kept and long enough, of several the one that was used last; null when there is none of up to twice the size. */
function takePooled(bytes: number): ArrayBuffer | null {
  let best: ArrayBuffer | null = null;
  for (const buffer of pool) {
    if (buffer.byteLength < bytes || buffer.byteLength > bytes * 2) continue;
    if (best === null || buffer.byteLength <= best.byteLength) best = buffer;
  }
  if (best !== null) removeFromPool(best);
  return best;
}

/** Whether this memory is a room's that was taken and not given back. */
export const ownsBuffer = (memory: ArrayBufferLike): memory is ArrayBuffer => owned.has(memory);

/**
 * Gives a room back, of which nobody may read anything again: every view of it is empty from here on. Where too many would be kept, those
 * go that lay there longest: a length that is not asked for any more keeps no other out.
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

/** Gives all that is kept back to the system. */
export function clearBufferPool(): void {
  if (clearTimer !== null) clearTimeout(clearTimer);
  clearTimer = null;
  for (const buffer of pool) buffer.transfer(0);
  pool = [];
  pooledBytes = 0;
}
