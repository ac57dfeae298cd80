/** A stopwatch of the time that one request spends in the gateway itself: it stands still while somebody else is waited for. */
export class OverheadTimer {
  readonly #now: () => number;
  #since: number;
  #spent = 0;
  #paused = false;

  /** Runs from `since` on; `now` is the clock in milliseconds. */
  constructor(since: number, now: () => number = () => performance.now()) {
    this.#since = since;
    this.#now = now;
  }

  /** Milliseconds so far. */
  get ms(): number {
    return this.#paused ? this.#spent : this.#spent + this.#now() - this.#since;
  }

  /** Others have it from here on. */
  pause(): void {
    this.#spent = this.ms;
    this.#paused = true;
  }

  /** It is back. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#since = this.#now();
  }

  /** Waits for somebody else, however that ends. */
  async excluding<T>(wait: Promise<T>): Promise<T> {
    this.pause();
    try {
      return await wait;
    } finally {
      this.resume();
    }
  }
}
