import type { WebSocket } from 'ws';
import type { ServerEvent } from '../../contract/realtime.ts';

/** Bytes that may wait for a caller: above the first answers wait, above the second nothing more is read from it. */
const BACKPRESSURE_BYTES = 1024 * 1024;
const PAUSE_BYTES = 4 * 1024 * 1024;
/** Above this a caller is cut: it has been read from no more, and still it does not take what is there. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** How often a caller is asked whether it is there, in milliseconds; it must have answered by the next time. */
const PING_MS = 30_000;

/** What a session says, at the speed of its listener. */
export class SocketWriter {
  readonly #socket: WebSocket;
  readonly #ping: NodeJS.Timeout;
  #alive = true;
  #waiting: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('pong', () => (this.#alive = true));
    this.#ping = setInterval(() => this.#checkAlive(), PING_MS);
    this.#ping.unref();
  }

  send(event: ServerEvent): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(event), () => this.#onSent());
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
    else if (socket.bufferedAmount > PAUSE_BYTES) socket.pause();
  }

  /** Resolves when little enough waits for the caller, or the signal has ended and `wake` was called. */
  async drained(signal: AbortSignal): Promise<void> {
    while (this.#socket.bufferedAmount > BACKPRESSURE_BYTES && !signal.aborted)
      await new Promise<void>((done) => this.#waiting.push(done));
  }

  /** Has everybody who waits look again. */
  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  close(): void {
    clearInterval(this.#ping);
    this.wake();
  }

  #onSent(): void {
    if (this.#socket.bufferedAmount > BACKPRESSURE_BYTES) return;
    if (this.#socket.isPaused) this.#socket.resume();
    this.wake();
  }

  /** A caller that has answered nothing since the last time is gone, unless we do not listen to it. */
  #checkAlive() {
    if (!this.#alive && !this.#socket.isPaused) return this.#socket.terminate();
    this.#alive = false;
    this.#socket.ping();
  }
}
