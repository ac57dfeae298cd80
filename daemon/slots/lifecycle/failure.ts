/** Milliseconds after which a failed slot is tried again by itself; the failure after the last one parks it. */
export const RETRY_AFTER_MS: readonly number[] = [5_000, 15_000, 45_000, 135_000];
/** A parked slot takes one request per this time as its trial. */
export const TRIAL_INTERVAL_MS = 300_000;
/** Serving for this long forgets earlier failures. */
export const RESET_AFTER_MS = 600_000;

/** Why a slot is in `error`, and what follows. */
export interface Failure {
  readonly reason: string;
  readonly failures: number;
  /** No more automatic tries. */
  readonly parked: boolean;
  /** Unix milliseconds of the next automatic try; null when parked. */
  readonly retryAt: number | null;
  /** Unix milliseconds of the last failed try. */
  readonly failedAt: number;
  /** The last try was not made, because there was no memory for it. */
  readonly lackedMemory: boolean;
}

/** Whether an engine that became ready at `readySince` (null: never) has been there long enough to forget failures. */
export const hasServedLong = (readySince: number | null, now: number): boolean =>
  readySince !== null && now - readySince >= RESET_AFTER_MS;

/**
 * Returns the next failure record (docs/spec/contract.md#slot-failure). `readySince` is when the slot last
 * became ready, null when this attempt never became ready. `before` is null when nothing failed since the
 * count was reset.
 */
export function nextFailure(
  before: Failure | null,
  reason: string,
  now: number,
  readySince: number | null,
): Failure {
  const failures = (hasServedLong(readySince, now) ? 0 : (before?.failures ?? 0)) + 1;
  const wait = RETRY_AFTER_MS[failures - 1];
  const parked = wait === undefined;
  const retryAt = parked ? null : now + wait;
  return { reason, failures, parked, retryAt, failedAt: now, lackedMemory: false };
}

/** The same failure with its next automatic try moved on: a try that could not be made is no failure. */
export function postponeFailure(failure: Failure, now: number, lackedMemory: boolean): Failure {
  const same = { ...failure, lackedMemory };
  if (failure.parked) return { ...same, failedAt: now };
  return { ...same, retryAt: now + (RETRY_AFTER_MS[failure.failures - 1] as number) };
}

/** What a request may do while the slot is in `error`: be the trial, or be refused until `retryAfterS` (null: no use). */
export type TrialDecision = { trial: true } | { trial: false; retryAfterS: number | null };

export function trialDecision(failure: Failure, now: number): TrialDecision {
  // A try of the gateway's own evicts nobody, so that it may never find room; for a request others have to leave.
  if (failure.lackedMemory) return { trial: true };
  if (failure.parked) {
    return now - failure.failedAt >= TRIAL_INTERVAL_MS
      ? { trial: true }
      : { trial: false, retryAfterS: null };
  }
  return { trial: false, retryAfterS: Math.max(1, Math.ceil(((failure.retryAt ?? now) - now) / 1000)) };
}
