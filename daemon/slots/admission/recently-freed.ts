import type { Clock } from '../lifecycle/clock.ts';
import { CARD_FIGURES_MS } from './memory-use.ts';

/** Memory that engines off the processor gave back a moment ago: figures of cards and graphics are some seconds old. */
export class Departures {
  readonly #clock: Clock;
  #recent: { pool: string; bytes: number; until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An engine that was not on the processor has ended. */
  note(pool: string, bytes: number): void {
    this.#forget();
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
