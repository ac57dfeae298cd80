import type { UpstreamModel } from './model-list.ts';

/** Pause after a list that did not come, at first and at most, milliseconds; doubled each time. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

export interface ListClocks {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
}

/** The model list of one upstream as it is known: its content, its age, and when it may be asked for again. */
export class Listing {
  readonly #clocks: ListClocks;
  #models: readonly UpstreamModel[] = [];
  #at: number | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #nextAttemptAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: ListClocks, kept?: { at: number; models: readonly UpstreamModel[] }) {
    this.#clocks = clocks;
    if (kept) [this.#models, this.#at] = [kept.models, kept.at];
  }

  get models(): readonly UpstreamModel[] {
    return this.#models;
  }

  /** Unix milliseconds at which it came; null before the first one. */
  get fetchedAt(): number | null {
    return this.#at;
  }

  /** Whether it is young enough to be the last word. */
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

  /** What was asked for may have changed: it may be asked at once. */
  resetBackoff(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#nextAttemptAt = Number.NEGATIVE_INFINITY;
  }
}
