import type { Socket } from 'node:net';

/** As long as this a reader may take nothing before its connection counts as stalled. */
const STALLED_MS = 10_000;

/** What Node knows of a socket below its stream: bytes that were handed to the system, and those of them that still wait. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

interface Mark {
  /** Bytes that the system had taken. */
  readonly taken: number;
  readonly since: number;
}

/**
 * The connections whose answers lie here because their readers take nothing. They are looked at from time to time, so that
 * an answer pays nothing for it. One who reads slowly is not stalled.
 */
export class StalledSockets {
  #marks = new Map<Socket, Mark>();

  /** Notes what has moved since the last look. */
  sample(open: Iterable<Socket>, now: number): void {
    const before = this.#marks;
    this.#marks = new Map();
    for (const socket of open) {
      if (socket.writableLength === 0) continue;
      const taken = bytesTakenFrom(socket);
      const mark = before.get(socket);
      this.#marks.set(socket, mark?.taken === taken ? mark : { taken, since: now });
    }
  }

  /** The one that has taken nothing for longest; null when there is none that is stalled and still open. */
  longestStalled(open: ReadonlySet<Socket>, now: number): Socket | null {
    let oldest: Socket | null = null;
    let since = now - STALLED_MS;
    for (const [socket, mark] of this.#marks) {
      if (mark.since > since || !open.has(socket)) continue;
      if (oldest !== null && mark.since === since) continue;
      if (socket.writableLength === 0 || bytesTakenFrom(socket) !== mark.taken) continue;
      [oldest, since] = [socket, mark.since];
    }
    return oldest;
  }
}

/** By the stream alone a long answer would seem to stand still until its last byte is gone. */
function bytesTakenFrom(socket: Socket): number {
  const handle = (socket as Socket & { _handle?: Handle | null })._handle;
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
