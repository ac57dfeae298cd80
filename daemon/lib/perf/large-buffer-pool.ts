/** Shorter ones are not kept: the allocator has them at hand, while it returns long ones to the system. */
const LEAST = 8 * 1024 * 1024;
/** Bytes that are kept at most: as many as the longest body has. */
const MOST = 64 * 1024 * 1024;
/**
 * Rooms that are kept have a multiple of so many bytes: the next turn of a long talk is a little longer than the last. What nobody writes
 * of them costs no memory.
 */
const STEP = 4 * 1024 * 1024;
/**
 * How long they are kept behind the last one that was given back, milliseconds: as long as who talks with pictures or whole folders
 * in his context may wait between two turns.
 */
const KEPT_MS = 30_000;

/** Memory that is a room's, for as long as it is lent. */
const lent = new WeakSet<ArrayBufferLike>();
/** The one that was given back first comes first. */
let kept: ArrayBuffer[] = [];
let keptBytes = 0;
let dropping: NodeJS.Timeout | null = null;

/**
 * Room for so many bytes that belong together and come bit by bit; what it holds is anything. It may be that of a body that is over:
 * taken anew from the system, 16 MB are 4,000 page faults, a fifth of the CPU of such a chat, and on a machine that shares its memory
 * with others several times the chat.
 */
export function takeRoom(bytes: number): Buffer {
  const size = bytes < LEAST ? bytes : Math.ceil(bytes / STEP) * STEP;
  const room = takeKept(bytes) ?? Buffer.allocUnsafeSlow(size).buffer;
  lent.add(room);
  return Buffer.from(room, 0, bytes);
}

/** The shortest one that is kept and long enough, of several the one that was used last; null when there is none of up to twice the size. */
function takeKept(bytes: number): ArrayBuffer | null {
  let best: ArrayBuffer | null = null;
  for (const room of kept) {
    if (room.byteLength < bytes || room.byteLength > bytes * 2) continue;
    if (best === null || room.byteLength <= best.byteLength) best = room;
  }
  if (best !== null) forget(best);
  return best;
}

/** Whether this memory is a room's that was taken and not given back. */
export const isRoom = (memory: ArrayBufferLike): memory is ArrayBuffer => lent.has(memory);

/**
 * Gives a room back, of which nobody may read anything again: every view of it is empty from here on. Where too many would be kept, those
 * go that lay there longest: a length that is not asked for any more keeps no other out.
 */
export function giveRoom(memory: ArrayBuffer): void {
  lent.delete(memory);
  const { byteLength } = memory;
  if (byteLength < LEAST || byteLength > MOST) {
    memory.transfer(0);
    return;
  }
  for (const room of [...kept]) {
    if (keptBytes + byteLength <= MOST) break;
    forget(room);
    room.transfer(0);
  }
  kept.push(memory.transfer());
  keptBytes += byteLength;
  if (dropping === null) dropping = setTimeout(dropRooms, KEPT_MS).unref();
  else dropping.refresh();
}

function forget(room: ArrayBuffer): void {
  kept = kept.filter((each) => each !== room);
  keptBytes -= room.byteLength;
}

/** Gives all that is kept back to the system. */
export function dropRooms(): void {
  if (dropping !== null) clearTimeout(dropping);
  dropping = null;
  for (const room of kept) room.transfer(0);
  kept = [];
  keptBytes = 0;
}
