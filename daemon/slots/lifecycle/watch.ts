import type { Clock } from './clock.ts';

/** Intervals and limits of the health watch. */
export interface WatchPace {
  /** Milliseconds between the end of one probe and the next. */
  readonly intervalMs: number;
  /** Milliseconds in which the engine must respond. */
  readonly timeoutMs: number;
  /** Consecutive probes without a response after which the engine counts as hung. */
  readonly maxMisses: number;
}

export const WATCH_PACE: WatchPace = { intervalMs: 15_000, timeoutMs: 5_000, maxMisses: 3 };

export const HUNG_REASON = 'The engine stopped responding.';

/** The engine that is watched. */
export interface WatchTarget {
  /** True when no probe should be sent, because a response in progress shows that the engine is alive. */
  isBusy(): boolean;
  /** Resolves when the engine responds, with any status. Rejects when it does not. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Called once when the engine is hung. */
  onHung(): void;
}

/** The heartbeat check of an engine: probes it at a fixed interval until it is stopped or the engine is hung. */
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

  /** Returns whether the engine responds within the limit. */
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
