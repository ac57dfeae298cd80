/** Threads for all CPU slots together: the setting, or (0) physical cores minus one; at least 1. */
export const threadBudget = (setting: number, cores: number): number =>
  Math.max(1, setting > 0 ? setting : cores - 1);

export interface ThreadPicture {
  readonly budget: number;
  /** Threads of the CPU slots that run or load now; they keep them until their next start. */
  readonly taken: readonly number[];
  /** The demonstration model works on one thread whatever there is. */
  readonly tiny: boolean;
}

/**
 * Threads for a slot that starts: an equal share of the budget over all running CPU slots, no more than is left, at
 * least 1. Too many threads cost far more than too few, because waiting threads spin.
 */
export function threadShare(picture: ThreadPicture): number {
  if (picture.tiny) return 1;
  const left = picture.budget - picture.taken.reduce((sum, threads) => sum + threads, 0);
  const equal = Math.ceil(picture.budget / (picture.taken.length + 1));
  return Math.max(1, picture.taken.length === 0 ? picture.budget : Math.min(equal, left));
}
