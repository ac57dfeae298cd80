import type { WebSocket } from 'ws';
import type { ServerEvent } from '../../contract/realtime.ts';

/** Bytes that may wait for a caller: above the first answers wait, above the second nothing more is read from it. */
const SLOW = 1024 * 1024;
const STUCK = 4 * 1024 * 1024;
/** Above this a caller is cut: it has been read from no more, and still it does not take what is there. */
const HOPELESS = 64 * 1024 * 1024;
/** How often a caller is asked whether it is there, in milliseconds; it must have answered by the next time. */
const PING_MS = 30_000;

/** What a session says, at the speed of its listener. */
export class Mouth {
  readonly #socket: WebSocket;
  readonly #ping: NodeJS.Timeout;
  #alive = true;
  #waiting: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('pong', () => (this.#alive = true));
    this.#ping = setInterval(() => this.#ask(), PING_MS);
    this.#ping.unref();
  }

  send(event: ServerEvent): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(event), () => this.#sent());
    if (socket.bufferedAmount > HOPELESS) socket.terminate();
    else if (socket.bufferedAmount > STUCK) socket.pause();
  }

  /** Resolves when little enough waits for the caller, or the signal has ended and `wake` was called. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#socket.bufferedAmount > SLOW && !signal.aborted)
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

  #sent(): void {
    if (this.#socket.bufferedAmount > SLOW) return;
    if (this.#socket.isPaused) this.#socket.resume();
    this.wake();
  }

  /** A caller that has answered nothing since the last time is gone, unless we do not listen to it. */
  #ask() {
    if (!this.#alive && !this.#socket.isPaused) return this.#socket.terminate();
    this.#alive = false;
    this.#socket.ping();
  }
}
