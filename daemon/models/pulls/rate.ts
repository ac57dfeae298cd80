import { setTimeout as pause } from 'node:timers/promises';

/** Shares a number of bytes per second among all who take; 0 = no limit. The limit is read at each taking. */
export class Rate {
  readonly #perSecond: () => number;
  readonly #now: () => number;
  /** When the bytes that were granted so far are paid for, milliseconds. */
  #paidAt = 0;

  constructor(perSecond: () => number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Milliseconds that whoever takes `bytes` now has to wait first; counts them as taken. */
  delayFor(bytes: number): number {
    const perSecond = this.#perSecond();
    if (perSecond <= 0) return 0;
    const now = this.#now();
    const from = Math.max(now, this.#paidAt);
    this.#paidAt = from + (bytes / perSecond) * 1000;
    return from - now;
  }

  /** Resolves when `bytes` may be taken; rejects with the signal's reason. */
  async acquire(bytes: number, signal: AbortSignal): Promise<void> {
    const delay = this.delayFor(bytes);
    if (delay >= 1) await pause(delay, undefined, { signal });
  }
}
