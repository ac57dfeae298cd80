/** A slot that other loads wait for serves at least this long before its callers have to make room. */
const SHORTEST_TURN_MS = 10_000;
const LONGEST_TURN_MS = 120_000;
/** A turn is this many times as long as loading the slot again, so that most of the time goes to answers. */
const LOADS_PER_TURN = 2;
/** A slot that has just answered is kept this long although nobody waits for it: its caller may have a next question. */
export const LINGER_MS = 250;

/** Milliseconds that a loaded slot may go on serving while another load waits for its memory. */
export const turnMs = (reloadMs: number): number =>
  Math.min(LONGEST_TURN_MS, Math.max(SHORTEST_TURN_MS, LOADS_PER_TURN * reloadMs));

/** What decides how long a loaded slot stays. Times are Unix milliseconds. */
export interface TurnFacts {
  readonly serving: boolean;
  readonly readySince: number;
  /** Its last request began or ended. */
  readonly usedAt: number;
  /** Milliseconds that loading it again takes. */
  readonly reloadMs: number;
}

/**
 * From when on a loaded slot has to make room for a load that waits since `waitingSince`. Its turn begins when both are
 * there, so a slot that was loaded for a queue serves that queue first; without requests it leaves at once, but for
 * a moment after its last one.
 */
export function dueAt(slot: TurnFacts, waitingSince: number): number {
  const end = Math.max(slot.readySince, waitingSince) + turnMs(slot.reloadMs);
  return slot.serving ? end : Math.min(end, slot.usedAt + LINGER_MS);
}
