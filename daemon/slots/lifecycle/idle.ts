import type { Clock } from './clock.ts';

/** Calls back once a slot has been without a request for its time; 0 seconds means never. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #act: () => void;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, act: () => void) {
    this.#clock = clock;
    this.#act = act;
  }

  /** The slot is idle from now on. */
  start(seconds: number): void {
    this.stop();
    if (seconds <= 0) return;
    this.#cancel = this.#clock.after(seconds * 1000, () => {
      this.#cancel = null;
      this.#act();
    });
  }

  /** A request came, or the slot is no longer loaded. Only these end the time; looking at a slot does not. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
