import { SequencePool } from './sequence-pool.ts';

/** Runs a limited number of requests at once. The others wait in order of arrival. */
export class Permits {
  readonly #pool: SequencePool<number>;

  constructor(count: number, queueLimit: number) {
    const numbers = Array.from({ length: count }, (_, number) => number);
    this.#pool = new SequencePool(numbers, queueLimit, () => ({ shared: 0, held: 0 }));
  }

  /**
   * Runs `work` when a permit is free. Throws 429 when the queue is full and the signal's reason when the
   * caller disconnects while waiting.
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const permit = await this.#pool.acquire([], signal);
    try {
      return await work();
    } finally {
      this.#pool.release(permit);
    }
  }

  stats(): { active: number; queued: number; tokens_generated: number } {
    return { active: this.#pool.active, queued: this.#pool.queued, tokens_generated: 0 };
  }
}
