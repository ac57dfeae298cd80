import type { MemorySumView } from './slots.ts';

/** What is left for one more load. */
export interface MemoryHeadroom {
  readonly bytes: number;
  /** The setting `slots.memory_limit` leaves less than the memory itself. */
  readonly isLimitedBySetting: boolean;
}

/** What a sum leaves for its load now, and which of the two bounds says so. */
export function headroomOf({ free, reserved, kept_free, limit, held }: MemorySumView): MemoryHeadroom {
  const unspoken = Math.max(0, free - reserved - kept_free);
  const below = limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - held);
  return { bytes: Math.min(unspoken, below), isLimitedBySetting: below < unspoken };
}
