/**
 * Returns the number of threads for all CPU slots together: the setting, or for 0 the physical cores minus one; at
 * least 1.
 */
export const threadBudget = (setting: number, cores: number): number =>
  Math.max(1, setting > 0 ? setting : cores - 1);

export interface ThreadShareInput {
  readonly budget: number;
  /** Threads of the CPU slots that run or load now. A slot keeps its threads until its next start. */
  readonly inUse: readonly number[];
  /** The demonstration model always runs on one thread. */
  readonly isDemo: boolean;
}

/**
 * Returns the threads for a slot that starts: an equal share of the budget over all running CPU slots, at most what
 * is left, at least 1. Too many threads cost far more than too few, because waiting threads spin.
 */
export function threadShare(input: ThreadShareInput): number {
  if (input.isDemo) return 1;
  const left = input.budget - input.inUse.reduce((sum, threads) => sum + threads, 0);
  const equal = Math.ceil(input.budget / (input.inUse.length + 1));
  return Math.max(1, input.inUse.length === 0 ? input.budget : Math.min(equal, left));
}
