/** Minimum and maximum time that a slot keeps serving while other loads wait for its memory. */
const MIN_SLICE_MS = 10_000;
const MAX_SLICE_MS = 120_000;
/** A time slice is this many reload times long, so that most of the time is spent on requests. */
const RELOADS_PER_SLICE = 2;
/** An idle slot keeps its model for this time after a request, because its caller may send the next one. */
export const IDLE_GRACE_MS = 250;

/** Returns the milliseconds that a loaded slot may keep serving while another load waits for its memory. */
export const sliceMs = (reloadMs: number): number =>
  Math.min(MAX_SLICE_MS, Math.max(MIN_SLICE_MS, RELOADS_PER_SLICE * reloadMs));

/** What decides how long a loaded slot stays. Times are Unix milliseconds. */
export interface TimeSliceInput {
  readonly serving: boolean;
  readonly readySince: number;
  /** When its last request started or ended. */
  readonly lastUsedAt: number;
  /** Milliseconds that a reload takes. */
  readonly reloadMs: number;
}

/**
 * Returns when a loaded slot can be evicted for a load that waits since `waitingSince`. The time slice begins when
 * the slot is ready and the other load waits, so a slot that was loaded for a queue serves that queue first. A slot
 * without requests can be evicted after a short grace period.
 */
export function evictableAt(slot: TimeSliceInput, waitingSince: number): number {
  const end = Math.max(slot.readySince, waitingSince) + sliceMs(slot.reloadMs);
  return slot.serving ? end : Math.min(end, slot.lastUsedAt + IDLE_GRACE_MS);
}
