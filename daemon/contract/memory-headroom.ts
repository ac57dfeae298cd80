import type { MemorySumView } from './slots.ts';

/** Memory left for one more load. */
export interface MemoryHeadroom {
  readonly bytes: number;
  /** Whether `slots.memory_limit` is the tighter bound. */
  readonly isLimitedBySetting: boolean;
}

/** Returns the memory that a sum leaves for its load, and which bound limits it. */
export function headroomOf({ free, reserved, kept_free, limit, held }: MemorySumView): MemoryHeadroom {
  const unspoken = Math.max(0, free - reserved - kept_free);
  const below = limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - held);
  return { bytes: Math.min(unspoken, below), isLimitedBySetting: below < unspoken };
}
