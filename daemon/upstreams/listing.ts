import type { UpstreamModel } from './model-list.ts';

/** Pause after a list that did not come, at first and at most, milliseconds; doubled each time. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export interface ListClocks {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds that never jump. */
  readonly steady: () => number;
}

/** The model list of one upstream as it is known: its content, its age, and when it may be asked for again. */
export class Listing {
  readonly #clocks: ListClocks;
  #models: readonly UpstreamModel[] = [];
  #at: number | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #askAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: ListClocks, kept?: { at: number; models: readonly UpstreamModel[] }) {
    this.#clocks = clocks;
    if (kept) [this.#models, this.#at] = [kept.models, kept.at];
  }

  get models(): readonly UpstreamModel[] {
    return this.#models;
  }

  /** Unix milliseconds at which it came; null before the first one. */
  get at(): number | null {
    return this.#at;
  }

  /** Whether it is young enough to be the last word. */
  fresh(maxAgeMs: number): boolean {
    if (this.#at === null) return false;
    const age = this.#clocks.wall() - this.#at;
    return age >= 0 && age < maxAgeMs;
  }

  /** Whether the pause after a failure is over. */
  get due(): boolean {
    return this.#clocks.steady() >= this.#askAt;
  }

  came(models: readonly UpstreamModel[]): void {
    this.#models = models;
    this.#at = this.#clocks.wall();
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#askAt = Number.NEGATIVE_INFINITY;
  }

  failed(): void {
    this.#askAt = this.#clocks.steady() + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  /** What was asked for may have changed: it may be asked at once. */
  retry(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#askAt = Number.NEGATIVE_INFINITY;
  }
}
