import type { WebSocket } from 'ws';
import type { ServerEvent } from '../../contract/realtime.ts';

/** Buffered bytes above which responses wait, and above which reading from the caller is paused. */
const BACKPRESSURE_BYTES = 1024 * 1024;
const PAUSE_BYTES = 4 * 1024 * 1024;
/** Buffered bytes above which the caller is disconnected. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** Ping interval in milliseconds; a caller must respond before the next ping. */
const PING_MS = 30_000;

/** Sends the events of a session with backpressure. */
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

  /** Resolves when the buffer is small enough, or after the signal is aborted and `wake` is called. */
  async drained(signal: AbortSignal): Promise<void> {
    while (this.#socket.bufferedAmount > BACKPRESSURE_BYTES && !signal.aborted)
      await new Promise<void>((done) => this.#waiting.push(done));
  }

  /** Wakes all waiters, which check again. */
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

  /** Disconnects a caller that has not responded to the last ping, unless reading is paused. */
  #checkAlive() {
    if (!this.#alive && !this.#socket.isPaused) return this.#socket.terminate();
    this.#alive = false;
    this.#socket.ping();
  }
}
