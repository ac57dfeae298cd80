/**
 * Measures the time that one request spends in the gateway itself. Paused while the gateway waits for others.
 */
export class OverheadTimer {
  readonly #now: () => number;
  #since: number;
  #spent = 0;
  #paused = false;

  /** Starts at `since`; `now` is the clock in milliseconds. */
  constructor(since: number, now: () => number = () => performance.now()) {
    this.#since = since;
    this.#now = now;
  }

  /** Milliseconds so far. */
  get ms(): number {
    return this.#paused ? this.#spent : this.#spent + this.#now() - this.#since;
  }

  /** Pauses the timer. */
  pause(): void {
    this.#spent = this.ms;
    this.#paused = true;
  }

  /** Resumes the timer. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#since = this.#now();
  }

  /** Awaits a promise and excludes the wait, whatever the outcome. */
  async excluding<T>(wait: Promise<T>): Promise<T> {
    this.pause();
    try {
      return await wait;
    } finally {
      this.resume();
    }
  }
}
