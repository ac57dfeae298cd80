import type { Clock } from './clock.ts';
import { CARD_FIGURES_MS, HOST_POOL } from './holding.ts';

/** Memory of cards that was given back a moment ago: their figures are some seconds old, those of the machine are not. */
export class Departures {
  readonly #clock: Clock;
  #recent: { pool: string; bytes: number; until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An engine has ended. */
  note(pool: string, bytes: number): void {
    this.#forget();
    if (pool === HOST_POOL) return;
    this.#recent.push({ pool, bytes, until: this.#clock.now() + CARD_FIGURES_MS });
  }

  /** Bytes in this pool that may not show yet. */
  bytes(pool: string): number {
    this.#forget();
    return this.#recent.filter((one) => one.pool === pool).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #forget(): void {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ until }) => until > now);
  }
}
