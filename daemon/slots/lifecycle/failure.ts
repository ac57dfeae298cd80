/** Delays of the automatic retries of a failed slot, in milliseconds. The failure after the last one parks it. */
export const RETRY_AFTER_MS: readonly number[] = [5_000, 15_000, 45_000, 135_000];
/** A parked slot accepts one request in this interval as its trial. */
export const TRIAL_INTERVAL_MS = 300_000;
/** Earlier failures are cleared after this time of serving. */
export const RESET_AFTER_MS = 600_000;

/** Why a slot is in `error`, and when it is retried. */
export interface Failure {
  readonly reason: string;
  readonly failures: number;
  /** There are no more automatic attempts. */
  readonly parked: boolean;
  /** Unix milliseconds of the next automatic attempt; null when parked. */
  readonly retryAt: number | null;
  /** Unix milliseconds of the last failed attempt. */
  readonly failedAt: number;
  /** The last attempt was not made, because memory was missing. */
  readonly lackedMemory: boolean;
}

/**
 * Returns whether an engine that became ready at `readySince` (null: never) has served long enough to clear earlier
 * failures.
 */
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

/**
 * Returns the same failure with its next attempt delayed. An attempt that could not be made does not count as a
 * failure.
 */
export function postponeFailure(failure: Failure, now: number, lackedMemory: boolean): Failure {
  const same = { ...failure, lackedMemory };
  if (failure.parked) return { ...same, failedAt: now };
  return { ...same, retryAt: now + (RETRY_AFTER_MS[failure.failures - 1] as number) };
}

/**
 * What happens to a request while the slot is in `error`: it is the trial, or it is refused with `retryAfterS`
 * (null: a retry is pointless).
 */
export type TrialDecision = { trial: true } | { trial: false; retryAfterS: number | null };

export function trialDecision(failure: Failure, now: number): TrialDecision {
  // An automatic attempt evicts nothing, so it may never find memory. A request may evict other slots.
  if (failure.lackedMemory) return { trial: true };
  if (failure.parked) {
    return now - failure.failedAt >= TRIAL_INTERVAL_MS
      ? { trial: true }
      : { trial: false, retryAfterS: null };
  }
  return { trial: false, retryAfterS: Math.max(1, Math.ceil(((failure.retryAt ?? now) - now) / 1000)) };
}
