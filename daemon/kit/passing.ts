import type { Duplex } from 'node:stream';

/** Shorter ones are left to the collector: letting them go would cost more than it saves. */
const LEAST = 8 * 1024;

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

type Done = (error?: Error | null) => void;

/** Lets marked bytes go as soon as this socket has done with them. */
export function freeWritten(socket: Duplex): void {
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => {
    write(chunk, encoding, isMarked(chunk) ? freeing([chunk], done) : done);
  };
  const writev = socket._writev?.bind(socket);
  if (writev === undefined) return;
  socket._writev = (pieces, done) => {
    const marked = pieces.map(({ chunk }) => chunk as unknown).filter(isMarked);
    writev(pieces, marked.length > 0 ? freeing(marked, done) : done);
  };
}

const isMarked = (chunk: unknown): chunk is Uint8Array =>
  typeof chunk !== 'string' && (chunk as Uint8Array).length >= LEAST && passing.has(chunk as Uint8Array);

const freeing =
  (marked: readonly Uint8Array[], done: Done): Done =>
  (error) => {
    for (const chunk of marked) letGo(chunk);
    done(error);
  };
