import { GatewayError } from '../contract/errors.ts';
import { headroomOf } from '../contract/memory-headroom.ts';
import type { MemorySumView } from '../contract/slots.ts';
import { type Failure, trialDecision } from './lifecycle/failure.ts';

/** Seconds after which a caller may retry while a load continues or a queue is full. */
const RETRY_AFTER_S = 10;
const QUEUE_RETRY_AFTER_S = 5;
const MIB = 1024 * 1024;
const mebibytes = (bytes: number): number => Math.ceil(bytes / MIB);

const withoutStop = (reason: string): string => reason.replace(/\.$/, '');

/**
 * Returns 503 `slot.failed`, with `Retry-After` while the slot is retried automatically, without it when the slot
 * is parked.
 */
export function failedError(slot: string, failure: Failure, now: number): GatewayError {
  const decision = trialDecision(failure, now);
  const details = {
    slot,
    reason: failure.reason,
    failures: failure.failures,
    parked: failure.parked,
    retry_at: failure.retryAt,
  };
  const wait = decision.trial ? 1 : decision.retryAfterS;
  const cause = `Slot ${slot} failed: ${withoutStop(failure.reason)}.`;
  if (wait === null) {
    const message = `${cause} It is not retried automatically. Fix the cause, then load the slot again.`;
    return new GatewayError('slot.failed', { message, details, noRetry: true });
  }
  const message = `${cause} Next attempt in ${Math.max(1, Math.ceil(wait))} s.`;
  return new GatewayError('slot.failed', { message, details, retryAfterS: wait });
}

/**
 * Returns 409 `slot.failed` for a slot without a model to load: only a change of its configuration helps. The message
 * contains the reason, because the record has no failure.
 */
export const noModelError = (slot: string, reason: string): GatewayError =>
  new GatewayError('slot.failed', {
    status: 409,
    message: `Slot ${slot} cannot be loaded: ${reason}`,
    details: { slot, reason },
  });

/** Returns 503 `slot.loading` when the waiting limit is over. `progress` is 0 to 1, null when unknown. */
export const loadingError = (slot: string, progress: number | null): GatewayError =>
  new GatewayError('slot.loading', {
    message: `Slot ${slot} is still loading its model${progress === null ? '' : ` (${Math.round(progress * 100)} %)`}.`,
    details: { slot, progress },
    retryAfterS: RETRY_AFTER_S,
  });

/** A full queue, as far as it is known. */
export interface FullQueue {
  readonly slot: string;
  /** The position that the refused request would have had. */
  readonly position: number;
  /** How many requests wait. */
  readonly queued: number;
  /** Bytes of the waiting bodies. */
  readonly bytes?: number;
  /** Seconds until all of them have been served; null when unknown. */
  readonly expectedS: number | null;
  /** What the caller or the owner can do. */
  readonly remedy: string;
}

/** Returns 429 `slot.queue_full` (docs/spec/contract.md#queue-max). */
export function queueFullError({
  slot,
  position,
  queued,
  bytes = 0,
  expectedS,
  remedy,
}: FullQueue): GatewayError {
  const size = bytes < MIB ? '' : ` with ${mebibytes(bytes)} MiB`;
  const wait = expectedS === null ? '' : `; they take about ${expectedS} s`;
  return new GatewayError('slot.queue_full', {
    message: `The queue of slot ${slot} is full: ${queued} requests${size} wait${wait}. ${remedy}`,
    details: { slot, position, queued, expected_wait_s: expectedS },
    retryAfterS: Math.min(expectedS ?? QUEUE_RETRY_AFTER_S, QUEUE_RETRY_AFTER_S),
  });
}

export const disabledMessage = (slot: string): string =>
  `Slot ${slot} is disabled. Set enabled = true in its slot file to use it.`;

export const disabledError = (slot: string): GatewayError =>
  new GatewayError('slot.disabled', {
    message: disabledMessage(slot),
    details: { slot },
  });

export const stoppingError = (slot: string): GatewayError =>
  new GatewayError('slot.draining', { details: { slot }, retryAfterS: RETRY_AFTER_S });

/** Returns 503 for a load that an admin requested and another one ended. */
export const unloadedError = (slot: string): GatewayError =>
  new GatewayError('slot.draining', {
    message: `Slot ${slot} was unloaded while it was loading.`,
    details: { slot },
    retryAfterS: 1,
  });

/**
 * 503 for callers that waited for something that no longer exists. Dispatching the request again finds what serves
 * it now.
 */
export class RedispatchError extends GatewayError {
  constructor(slot: string, message: string) {
    super('slot.draining', { message, details: { slot }, retryAfterS: 1 });
  }
}

/** Returns the error for callers that named a model that the slot no longer holds. */
export const swappedError = (slot: string): RedispatchError =>
  new RedispatchError(slot, `The model of slot ${slot} was changed while this request waited.`);

/** Returns the error for callers that waited in a slot which another engine serves now. */
export const movedError = (slot: string): RedispatchError =>
  new RedispatchError(slot, `The engine of slot ${slot} was changed while this request waited.`);

/** Returns the error for callers that waited in a removed slot. */
export const removedError = (slot: string): RedispatchError =>
  new RedispatchError(slot, `Slot ${slot} was removed while this request waited.`);

/** Returns 507 `slot.no_memory` with the whole memory sum. The message names the limit that the load exceeds. */
export function noMemoryError(slot: string, sum: MemorySumView): GatewayError {
  const { bytes, isLimitedBySetting } = headroomOf(sum);
  const mib = Math.floor(bytes / MIB);
  const left = isLimitedBySetting
    ? `the setting slots.memory_limit leaves ${mib} MiB`
    : `${mib} MiB are available`;
  return new GatewayError('slot.no_memory', {
    message: `Slot ${slot} needs ${mebibytes(sum.needed)} MiB of memory; ${left}.`,
    details: { slot, ...sum },
  });
}
