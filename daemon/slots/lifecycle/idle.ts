import type { Clock } from './clock.ts';

/** Calls `act` once a slot has had no request for its idle time; 0 seconds means never. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #act: () => void;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, act: () => void) {
    this.#clock = clock;
    this.#act = act;
  }

  /** Starts the idle time. */
  start(seconds: number): void {
    this.stop();
    if (seconds <= 0) return;
    this.#cancel = this.#clock.after(seconds * 1000, () => {
      this.#cancel = null;
      this.#act();
    });
  }

  /**
   * Stops the idle time: a request arrived, or the slot is no longer loaded. Reading the state of a slot does not
   * stop it.
   */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
