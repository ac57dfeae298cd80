import type { Socket } from 'node:net';

/** A reader that takes nothing for this long is stalled. */
const STALLED_MS = 10_000;

/** Node's figures of a socket below its stream: bytes handed to the system, and bytes that still wait. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

interface Mark {
  /** Bytes that the system had accepted. */
  readonly taken: number;
  readonly since: number;
}

/**
 * Connections whose responses wait because their readers take nothing. They are sampled periodically, so that
 * a response has no extra cost. A slow reader is not stalled.
 */
export class StalledSockets {
  #marks = new Map<Socket, Mark>();

  /** Records the progress since the last sample. */
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

  /** Returns the connection that has been stalled longest and is still open, or null. */
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

/** The stream alone would not show progress of a long response until its last byte. */
function bytesTakenFrom(socket: Socket): number {
  const handle = (socket as Socket & { _handle?: Handle | null })._handle;
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
