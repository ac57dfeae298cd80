import type { Clock } from './clock.ts';

/** How closely a ready engine is watched. */
export interface WatchPace {
  /** Milliseconds between the end of one question and the next. */
  readonly everyMs: number;
  /** Milliseconds in which a question must be answered. */
  readonly limitMs: number;
  /** Questions without an answer, one after the other, after which the engine counts as hung. */
  readonly misses: number;
}

export const WATCH_PACE: WatchPace = { everyMs: 15_000, limitMs: 5_000, misses: 3 };

export const HUNG = 'The engine does not answer any more.';

/** Whom the watch asks and tells. */
export interface Watched {
  /** True when now is no time to ask: an answer is on its way, and it shows by itself that the engine lives. */
  busy(): boolean;
  /** Resolves when the engine answers, whatever it says; rejects when nobody does. */
  ask(signal: AbortSignal): Promise<unknown>;
  /** The engine is hung; told once. */
  hung(): void;
}

/** Asks an engine now and then whether it still answers, until it is stopped or the engine is hung. */
export class HealthWatch {
  readonly #clock: Clock;
  readonly #pace: WatchPace;
  readonly #watched: Watched;
  #missed = 0;
  #cancel: (() => void) | null = null;
  #stopped = false;

  constructor(clock: Clock, pace: WatchPace, watched: Watched) {
    this.#clock = clock;
    this.#pace = pace;
    this.#watched = watched;
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #wait(): void {
    this.#cancel = this.#clock.after(this.#pace.everyMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#watched.busy()) this.#missed = 0;
    else this.#missed = (await this.#answers()) ? 0 : this.#missed + 1;
    if (this.#stopped) return;
    if (this.#missed < this.#pace.misses) return this.#wait();
    this.#stopped = true;
    this.#watched.hung();
  }

  /** Whether an answer comes within the limit. */
  async #answers(): Promise<boolean> {
    const control = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<false>();
    this.#cancel = this.#clock.after(this.#pace.limitMs, () => resolve(false));
    const answered = this.#watched.ask(control.signal).then(
      () => true,
      () => false,
    );
    const answers = await Promise.race([answered, over]);
    this.#cancel();
    control.abort(new Error('no answer in time'));
    return answers;
  }
}
