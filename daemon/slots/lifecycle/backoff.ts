import { failedError } from '../refusals.ts';
import type { Clock } from './clock.ts';
import { type Failure, nextFailure, postponeFailure, trialDecision } from './failure.ts';

/**
 * Keeps the failure of a slot and calls `retry` when the next automatic attempt is due. A parked slot is never
 * retried automatically.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #retry: () => void;
  #failure: Failure | null = null;
  #cancelRetry: (() => void) | null = null;
  #isClosed = false;
  #failedModel: string | null = null;

  constructor(clock: Clock, retry: () => void) {
    this.#clock = clock;
    this.#retry = retry;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  /** Returns the error for a request to a failed slot; null when the request may be the trial. */
  refusal(slot: string): ReturnType<typeof failedError> | null {
    const now = this.#clock.now();
    if (this.#failure === null || trialDecision(this.#failure, now).trial) return null;
    return failedError(slot, this.#failure, now);
  }

  /** The model that the failures are about; null without a failure. */
  get failedModel(): string | null {
    return this.#failure === null ? null : this.#failedModel;
  }

  /**
   * Counts a failure of a model. `readySince` is when the engine became ready, null when it never did. The failures of
   * another model do not count.
   */
  recordFailure(reason: string, readySince: number | null, model: string | null = null): Failure {
    if (this.#failedModel !== model) this.reset();
    this.#failedModel = model;
    return this.#schedule(nextFailure(this.#failure, reason, this.#clock.now(), readySince));
  }

  /**
   * Delays the next attempt after one that was not made (for example because memory was missing) or was cancelled.
   * Keeps the failure count.
   */
  postpone(failure: Failure, lackedMemory: boolean): Failure {
    return this.#schedule(postponeFailure(failure, this.#clock.now(), lackedMemory));
  }

  /** Cancels the pending retry while an attempt is in progress. */
  pause(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
  }

  /** Clears all failures, because the slot was stopped on purpose. */
  reset(): void {
    this.pause();
    this.#failure = null;
  }

  /** Stops automatic attempts for good. */
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
