import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Larger writes are not delayed: their reader is awake. */
const MAX_BATCHED_BYTES = 16 * 1024;

/** Delays the writes of a server's connections until the end of the event loop turn. */
export interface WriteBatching {
  /** Writes everything that is pending. */
  flush(): void;
}

/**
 * Corks sockets until setImmediate, so that the responses of one event loop turn are written together. Each
 * write that wakes a sleeping reader costs 5 to 10 µs; batching avoids about half of these wake-ups, and the
 * next requests arrive together too. No timer is involved. A single response (`isSingle`) is written
 * immediately, before its bookkeeping.
 */
export function batchWrites(server: Server, isSingle: () => boolean): WriteBatching {
  let waiting: (() => void)[] = [];
  const flush = () => {
    const now = waiting;
    waiting = [];
    for (const write of now) write();
  };
  server.on('connection', (socket: Socket) => {
    const uncork = socket.uncork.bind(socket);
    let waits = false;
    const write = () => {
      waits = false;
      uncork();
    };
    socket.uncork = () => {
      const much = socket.writableLength >= MAX_BATCHED_BYTES;
      if (socket.writableCorked !== 1 || much || (!waits && isSingle())) {
        uncork();
        // The pending write holds the socket corked once more.
        if (much && waits && socket.writableCorked === 1) uncork();
        return;
      }
      if (waits) return;
      waits = true;
      if (waiting.push(write) === 1) setImmediate(flush);
    };
  });
  return { flush };
}
