import type { UpstreamModel } from './model-list.ts';

/** First and maximum pause after a failed list; doubled each time. Milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

export interface ListClocks {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
}

/** The known model list of one upstream: its content, its age, and when it may be requested again. */
export class Listing {
  readonly #clocks: ListClocks;
  #models: readonly UpstreamModel[] = [];
  #at: number | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #nextAttemptAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: ListClocks, stored?: { at: number; models: readonly UpstreamModel[] }) {
    this.#clocks = clocks;
    if (stored) [this.#models, this.#at] = [stored.models, stored.at];
  }

  get models(): readonly UpstreamModel[] {
    return this.#models;
  }

  /** Unix milliseconds of the last list; null before the first one. */
  get fetchedAt(): number | null {
    return this.#at;
  }

  /** Whether it is recent enough to be used without a refresh. */
  isFresh(maxAgeMs: number): boolean {
    if (this.#at === null) return false;
    const age = this.#clocks.wall() - this.#at;
    return age >= 0 && age < maxAgeMs;
  }

  /** Whether the pause after a failure is over. */
  get isDue(): boolean {
    return this.#clocks.monotonic() >= this.#nextAttemptAt;
  }

  update(models: readonly UpstreamModel[]): void {
    this.#models = models;
    this.#at = this.#clocks.wall();
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#nextAttemptAt = Number.NEGATIVE_INFINITY;
  }

  recordFailure(): void {
    this.#nextAttemptAt = this.#clocks.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
  }

  /** Permits a request immediately, because the upstream may have changed. */
  resetBackoff(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#nextAttemptAt = Number.NEGATIVE_INFINITY;
  }
}
