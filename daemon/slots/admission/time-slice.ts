/** A slot that other loads wait for serves at least this long before its callers have to make room. */
const MIN_SLICE_MS = 10_000;
const MAX_SLICE_MS = 120_000;
/** A turn is this many times as long as loading the slot again, so that most of the time goes to answers. */
const RELOADS_PER_SLICE = 2;
/** A slot that has just answered is kept this long although nobody waits for it: its caller may have a next question. */
export const IDLE_GRACE_MS = 250;

/** Milliseconds that a loaded slot may go on serving while another load waits for its memory. */
export const sliceMs = (reloadMs: number): number =>
  Math.min(MAX_SLICE_MS, Math.max(MIN_SLICE_MS, RELOADS_PER_SLICE * reloadMs));

/** What decides how long a loaded slot stays. Times are Unix milliseconds. */
export interface TimeSliceInput {
  readonly serving: boolean;
  readonly readySince: number;
  /** Its last request began or ended. */
  readonly lastUsedAt: number;
  /** Milliseconds that loading it again takes. */
  readonly reloadMs: number;
}

/**
 * From when on a loaded slot has to make room for a load that waits since `waitingSince`. Its turn begins when both are
 * there, so a slot that was loaded for a queue serves that queue first; without requests it leaves at once, but for
 * a moment after its last one.
 */
export function evictableAt(slot: TimeSliceInput, waitingSince: number): number {
  const end = Math.max(slot.readySince, waitingSince) + sliceMs(slot.reloadMs);
  return slot.serving ? end : Math.min(end, slot.lastUsedAt + IDLE_GRACE_MS);
}
