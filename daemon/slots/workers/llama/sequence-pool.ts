import { queueFull } from '../request-limit.ts';
import { type CachedPrefix, selectSequence } from './select-sequence.ts';

/** Returns what a sequence holds, relative to `tokens`. */
export type InspectSequence<S> = (sequence: S, tokens: readonly number[]) => CachedPrefix;

interface Waiter<S> {
  take(sequence: S): void;
}

/** Leases each sequence to one request at a time. The others wait in order of arrival. */
export class SequencePool<S> {
  readonly #free: S[];
  readonly #all: readonly S[];
  readonly #waiting: Waiter<S>[] = [];
  readonly #limit: number;
  readonly #inspect: InspectSequence<S>;

  /** `sequences` must be sorted by number. */
  constructor(sequences: readonly S[], limit: number, inspect: InspectSequence<S>) {
    this.#free = [...sequences];
    this.#all = sequences;
    this.#limit = limit;
    this.#inspect = inspect;
  }

  get active(): number {
    return this.#all.length - this.#free.length;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /**
   * Returns the best free sequence for `tokens` (see {@link selectSequence}) or waits in the queue. Throws
   * 429 when the queue is full and the signal's reason when the caller disconnects.
   */
  async acquire(tokens: readonly number[], signal: AbortSignal): Promise<S> {
    signal.throwIfAborted();
    const free = this.#takeBest(tokens);
    if (free !== undefined) return free;
    if (this.#waiting.length >= this.#limit) throw queueFull();
    return this.#wait(signal);
  }

  /** Returns a sequence to the pool, where the first waiting request gets it. */
  release(sequence: S): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(sequence);
    else next.take(sequence);
  }

  #wait(signal: AbortSignal): Promise<S> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter: Waiter<S> = {
        take(sequence) {
          signal.removeEventListener('abort', leave);
          resolve(sequence);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #takeBest(tokens: readonly number[]): S | undefined {
    const free = this.#free.map((sequence) => ({
      ...this.#inspect(sequence, tokens),
      near: this.#isNear(sequence),
    }));
    return this.#free.splice(selectSequence(free), 1)[0];
  }

  #isNear(sequence: S): boolean {
    const number = this.#all.indexOf(sequence);
    return [number - 1, number + 1].some((next) => {
      const other = this.#all[next];
      return other !== undefined && !this.#free.includes(other);
    });
  }
}
