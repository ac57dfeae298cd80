import type { Clock } from '../lifecycle/clock.ts';
import { MAX_VRAM_READING_AGE_MS } from './memory-use.ts';

/** Memory that engines off the processor gave back a moment ago: figures of cards and graphics are some seconds old. */
export class RecentlyFreed {
  readonly #clock: Clock;
  #recent: { pool: string; bytes: number; until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An engine that was not on the processor has ended. */
  add(pool: string, bytes: number): void {
    this.#prune();
    this.#recent.push({ pool, bytes, until: this.#clock.now() + MAX_VRAM_READING_AGE_MS });
  }

  /** Bytes in this pool that may not show yet. */
  bytes(pool: string): number {
    this.#prune();
    return this.#recent.filter((one) => one.pool === pool).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #prune(): void {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ until }) => until > now);
  }
}
