import { setTimeout as pause } from 'node:timers/promises';

/** The rate limit of downloads: throttles all transfers to a total of bytes per second; 0 = no limit. Reads it at each call. */
export class Rate {
  readonly #perSecond: () => number;
  readonly #now: () => number;
  /** When the bytes granted so far are paid for, in milliseconds. */
  #paidAt = 0;

  constructor(perSecond: () => number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Returns the milliseconds to wait before `bytes` may be used, and counts them as used. */
  delayFor(bytes: number): number {
    const perSecond = this.#perSecond();
    if (perSecond <= 0) return 0;
    const now = this.#now();
    const from = Math.max(now, this.#paidAt);
    this.#paidAt = from + (bytes / perSecond) * 1000;
    return from - now;
  }

  /** Resolves when `bytes` may be used. Rejects with the signal's reason. */
  async acquire(bytes: number, signal: AbortSignal): Promise<void> {
    const delay = this.delayFor(bytes);
    if (delay >= 1) await pause(delay, undefined, { signal });
  }
}
