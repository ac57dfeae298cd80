import type { Clock } from './clock.ts';

/** How closely a ready engine is watched. */
export interface WatchPace {
  /** Milliseconds between the end of one question and the next. */
  readonly intervalMs: number;
  /** Milliseconds in which a question must be answered. */
  readonly timeoutMs: number;
  /** Questions without an answer, one after the other, after which the engine counts as hung. */
  readonly maxMisses: number;
}

export const WATCH_PACE: WatchPace = { intervalMs: 15_000, timeoutMs: 5_000, maxMisses: 3 };

export const HUNG_REASON = 'The engine does not answer any more.';

/** Whom the watch asks and tells. */
export interface WatchTarget {
  /** True when now is no time to ask: an answer is on its way, and it shows by itself that the engine lives. */
  isBusy(): boolean;
  /** Resolves when the engine answers, whatever it says; rejects when nobody does. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** The engine is hung; told once. */
  onHung(): void;
}

/** Asks an engine now and then whether it still answers, until it is stopped or the engine is hung. */
export class HealthWatch {
  readonly #clock: Clock;
  readonly #pace: WatchPace;
  readonly #target: WatchTarget;
  #missed = 0;
  #cancel: (() => void) | null = null;
  #stopped = false;

  constructor(clock: Clock, pace: WatchPace, target: WatchTarget) {
    this.#clock = clock;
    this.#pace = pace;
    this.#target = target;
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #wait(): void {
    this.#cancel = this.#clock.after(this.#pace.intervalMs, () => void this.#check());
  }

  async #check(): Promise<void> {
    if (this.#target.isBusy()) this.#missed = 0;
    else this.#missed = (await this.#probe()) ? 0 : this.#missed + 1;
    if (this.#stopped) return;
    if (this.#missed < this.#pace.maxMisses) return this.#wait();
    this.#stopped = true;
    this.#target.onHung();
  }

  /** Whether an answer comes within the limit. */
  async #probe(): Promise<boolean> {
    const control = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<false>();
    this.#cancel = this.#clock.after(this.#pace.timeoutMs, () => resolve(false));
    const answered = this.#target.probe(control.signal).then(
      () => true,
      () => false,
    );
    const answers = await Promise.race([answered, over]);
    this.#cancel();
    control.abort(new Error('no answer in time'));
    return answers;
  }
}
