import type { Clock } from '../lifecycle/clock.ts';
import { MAX_VRAM_READING_AGE_MS } from './memory-use.ts';

/**
 * GPU memory that ended engines have released recently. Memory readings of GPUs are some seconds old, so they may
 * not show it yet.
 */
export class RecentlyFreed {
  readonly #clock: Clock;
  #recent: { pool: string; bytes: number; until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the memory of a GPU engine that has ended. */
  add(pool: string, bytes: number): void {
    this.#prune();
    this.#recent.push({ pool, bytes, until: this.#clock.now() + MAX_VRAM_READING_AGE_MS });
  }

  /** Returns the released bytes of this pool that readings may not show yet. */
  bytes(pool: string): number {
    this.#prune();
    return this.#recent.filter((one) => one.pool === pool).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #prune(): void {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ until }) => until > now);
  }
}
