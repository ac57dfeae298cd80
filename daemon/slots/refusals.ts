import { GatewayError } from '../contract/errors.ts';
import { roomOf } from '../contract/memory-room.ts';
import type { MemorySumView } from '../contract/slots.ts';
import { type Failure, trialDecision } from './lifecycle/failure.ts';

/** Seconds after which a caller may try again when a load goes on or a queue is full. */
const RETRY_AFTER_S = 10;
const QUEUE_RETRY_AFTER_S = 5;
const MIB = 1024 * 1024;
const mebibytes = (bytes: number): number => Math.ceil(bytes / MIB);

/** 503 `slot.failed`: with `Retry-After` while the slot is tried again by itself, without hope when it is parked. */
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
  return new GatewayError(
    'slot.failed',
    wait === null ? { details, noRetry: true } : { details, retryAfterS: wait },
  );
}

/** 503 `slot.failed` for a slot that has no model to load; the message says why, since its record tells of no failure. */
export const noModelError = (slot: string, reason: string): GatewayError =>
  new GatewayError('slot.failed', {
    message: `Slot ${slot} can not be loaded: ${reason}`,
    details: { slot, reason },
    noRetry: true,
  });

/** 503 `slot.loading`: the waiting limit is over. `progress` is the share that is done, null when unknown. */
export const loadingError = (slot: string, progress: number | null): GatewayError =>
  new GatewayError('slot.loading', { details: { slot, progress }, retryAfterS: RETRY_AFTER_S });

export const queueFullError = (slot: string, position: number): GatewayError =>
  new GatewayError('slot.queue_full', { details: { slot, position }, retryAfterS: QUEUE_RETRY_AFTER_S });

export const disabledError = (slot: string): GatewayError =>
  new GatewayError('slot.disabled', { details: { slot } });

export const stoppingError = (slot: string): GatewayError =>
  new GatewayError('slot.draining', { details: { slot }, retryAfterS: RETRY_AFTER_S });

/** 503 for those who waited for a load that an admin ended. */
export const unloadedError = (slot: string): GatewayError =>
  new GatewayError('slot.draining', {
    message: 'The slot was unloaded while it was loading.',
    details: { slot },
    retryAfterS: 1,
  });

/** 503 for those who waited for what is no longer there; asking again finds who serves it now. */
export class RedispatchError extends GatewayError {
  constructor(slot: string, message: string) {
    super('slot.draining', { message, details: { slot }, retryAfterS: 1 });
  }
}

/** For those who named a model that the slot no longer holds. */
export const swappedError = (slot: string): RedispatchError =>
  new RedispatchError(slot, 'The slot was given another model while this request waited.');

/** For those who waited in a slot that is no more. */
export const removedError = (slot: string): RedispatchError =>
  new RedispatchError(slot, 'The slot was taken away while this request waited.');

/** 507 `slot.no_memory` with the whole sum; the message names the bound that the load does not fit below. */
export function noMemoryError(slot: string, sum: MemorySumView): GatewayError {
  const { bytes, byLimit } = roomOf(sum);
  const room = Math.floor(bytes / MIB);
  const left = byLimit
    ? `the setting slots.memory_limit leaves ${room} MiB for it now`
    : `${room} MiB are free for it now`;
  return new GatewayError('slot.no_memory', {
    message: `The model needs ${mebibytes(sum.needed)} MiB; ${left}.`,
    details: { slot, ...sum },
  });
}
