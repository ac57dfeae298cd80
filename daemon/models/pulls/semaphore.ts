/** Limits how many tasks run at once. The others wait in order of arrival. */
export class Semaphore {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Runs `work` when a permit is free. Rejects with the signal's reason while waiting. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = () => {
      signal.removeEventListener('abort', left);
      resolve();
    };
    const left = () => {
      this.#line.splice(this.#line.indexOf(give), 1);
      reject(signal.reason);
    };
    this.#line.push(give);
    signal.addEventListener('abort', left, { once: true });
    await promise;
  }

  #leave(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
