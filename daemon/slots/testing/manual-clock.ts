import type { Clock } from '../lifecycle/clock.ts';

/** A clock for tests that does not advance by itself. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advances by `ms`, runs due timers in order, and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let due = this.#next(end); due !== undefined; due = this.#next(end)) {
      this.#timers.delete(due);
      this.#now = due.at;
      due.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  #next(end: number): { at: number; callback: () => void } | undefined {
    const due = [...this.#timers].filter((timer) => timer.at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets all promises that can settle do so. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise(setImmediate);
}
