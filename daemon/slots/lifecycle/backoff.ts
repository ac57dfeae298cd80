import { failedError } from '../refusals.ts';
import type { Clock } from './clock.ts';
import { type Failure, nextFailure, postponeFailure, trialDecision } from './failure.ts';

/** Remembers how a slot failed and calls `retry` when its next automatic try is due; a parked slot is never tried. */
export class Backoff {
  readonly #clock: Clock;
  readonly #retry: () => void;
  #failure: Failure | null = null;
  #cancelRetry: (() => void) | null = null;
  #isClosed = false;

  constructor(clock: Clock, retry: () => void) {
    this.#clock = clock;
    this.#retry = retry;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  /** What a request for the failed slot is refused with; null when it may be the trial. */
  refusal(slot: string): ReturnType<typeof failedError> | null {
    const now = this.#clock.now();
    if (this.#failure === null || trialDecision(this.#failure, now).trial) return null;
    return failedError(slot, this.#failure, now);
  }

  /** Counts a failure; `readySince` is when the engine became ready, null when it never did. */
  recordFailure(reason: string, readySince: number | null): Failure {
    return this.#schedule(nextFailure(this.#failure, reason, this.#clock.now(), readySince));
  }

  /** A try was not made (maybe for want of memory) or was cut: the next one comes later, the count stays. */
  postpone(failure: Failure, lackedMemory: boolean): Failure {
    return this.#schedule(postponeFailure(failure, this.#clock.now(), lackedMemory));
  }

  /** A try is under way; nothing is due until it has an outcome. */
  pause(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
  }

  /** Forgets all failures: the slot was stopped on purpose. */
  reset(): void {
    this.pause();
    this.#failure = null;
  }

  /** No more automatic tries. Final. */
  close(): void {
    this.#isClosed = true;
    this.pause();
  }

  #schedule(failure: Failure): Failure {
    this.pause();
    this.#failure = failure;
    if (failure.retryAt !== null && !this.#isClosed) {
      this.#cancelRetry = this.#clock.after(failure.retryAt - this.#clock.now(), this.#retry);
    }
    return failure;
  }
}
