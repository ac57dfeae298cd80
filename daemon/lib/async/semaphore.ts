export interface SemaphoreOptions {
  readonly permits: number;
  /** Maximum number of tasks that wait; unlimited by default. */
  readonly maxQueued?: number;
  /** Creates the error for a task beyond `maxQueued`. */
  readonly queueFull?: () => Error;
}

/** Limits how many tasks run at once. The others wait in order of arrival. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting: (() => void)[] = [];
  #active = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /**
   * Runs `work` when a permit is free. Rejects with the signal's reason when it aborts while waiting, and with
   * the error of `queueFull` when too many tasks wait.
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { permits, maxQueued = Number.POSITIVE_INFINITY, queueFull } = this.#options;
    if (this.#active < permits) {
      this.#active += 1;
      return;
    }
    if (this.#waiting.length >= maxQueued) throw queueFull?.() ?? new Error('too many tasks wait');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const admit = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(admit), 1);
      reject(signal.reason);
    };
    this.#waiting.push(admit);
    signal.addEventListener('abort', leave, { once: true });
    await promise;
  }

  /** Passes the permit to the first waiting task. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#active -= 1;
    else next();
  }
}
