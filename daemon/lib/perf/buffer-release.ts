import type { Duplex } from 'node:stream';
import { giveRoom, isRoom } from './large-buffer-pool.ts';

/** Shorter ones are left to the collector: letting them go would cost more than it saves. */
const LEAST = 8 * 1024;

/** Memory that several short Buffers share has so many bytes at most. */
const LONGEST_SHARED = Math.max(Buffer.poolSize, 64 * 1024);

/** Bytes that nobody reads again once a socket has written them. */
const passing = new WeakSet<Uint8Array>();

/**
 * Gives the memory of long bytes back at once, where it is theirs alone and can be given away; nobody may read them again, they
 * are empty from here on. Left to the collector, what has passed lies around until a hundred megabytes of it have come
 * together, and what comes next is written to memory that no cache holds.
 */
export function letGo(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < LEAST || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer)) return;
  try {
    buffer.transfer(0);
  } catch {
    // Memory that cannot be given away, such as that of WebAssembly.
  }
}

/** Marks bytes that are let go once a socket of {@link freeWritten} has written them. Answers the same bytes. */
export function passOn<T extends Uint8Array>(bytes: T): T {
  if (bytes.byteLength >= LEAST) passing.add(bytes);
  return bytes;
}

/** What sockets still write of some memory, and those of its bytes that go with the last of it. */
interface Lent {
  writes: number;
  leaving: Uint8Array | null;
}

const lent = new WeakMap<ArrayBufferLike, Lent>();

/**
 * Lets a long body go, its room included, but what a socket of {@link freeWritten} still has to write of it is written first:
 * an engine may have answered before it has read all that it was asked.
 */
export function letGoWritten(bytes: Uint8Array): void {
  if (!isLong(bytes.buffer)) return;
  const writing = lent.get(bytes.buffer);
  if (writing === undefined) letGoWhole(bytes);
  else writing.leaving = bytes;
}

/** As {@link letGo}, and of a room all of it. */
export function letGoWhole(bytes: Uint8Array): void {
  if (isRoom(bytes.buffer)) giveRoom(bytes.buffer);
  else letGo(bytes);
}

/** Memory whose every part is followed on its way out, the short ones too; what others share, such as Node's pool, is shorter. */
const isLong = ({ byteLength }: ArrayBufferLike): boolean => byteLength > LONGEST_SHARED;

/** Lets marked bytes go as soon as this socket has done with them, and others not before. */
export function freeWritten(socket: Duplex): void {
  const write = socket.write.bind(socket) as (
    chunk: unknown,
    encoding?: BufferEncoding,
    done?: Done,
  ) => boolean;
  socket.write = (chunk: unknown, encoding?: BufferEncoding | Done, done?: Done) => {
    const [coding, then] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, done];
    if (!(chunk instanceof Uint8Array) || (chunk.length < LEAST && !isLong(chunk.buffer)))
      return write(chunk, coding, then);
    const settled = lend(chunk);
    return write(chunk, coding, (error) => {
      settled();
      then?.(error);
    });
  };
}

type Done = (error?: Error | null) => void;

/** Notes that a socket has these bytes to write, until the answer is called. */
function lend(chunk: Uint8Array): () => void {
  const { buffer } = chunk;
  const writing = lent.get(buffer) ?? { writes: 0, leaving: null };
  writing.writes++;
  lent.set(buffer, writing);
  return () => {
    if (passing.has(chunk)) writing.leaving = chunk;
    if (--writing.writes > 0) return;
    lent.delete(buffer);
    if (writing.leaving !== null) letGoWhole(writing.leaving);
  };
}
