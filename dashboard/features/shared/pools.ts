import type { MemoryPoolRecord } from '../../../daemon/contract/hardware.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

export interface Share {
  id: string;
  label: string;
  bytes: number;
  kind: 'slot' | 'other';
  /** Number of its colour, 1 to `COLOURS`; null for the share that is not a slot. */
  colour: number | null;
}

/** Number of colours in `tokens.css`. Slots beyond share them in order. */
export const COLOURS = 6;

export interface PoolUsage {
  total: number;
  used: number;
  free: number;
  shares: Share[];
}

/**
 * Memory use by slot. On a GPU it is the estimate of admission, because usage per process cannot be measured; in RAM it is
 * the measured use of the engine, also of one that computes on a GPU.
 */
function holders(pool: MemoryPoolRecord, slots: readonly SlotRecord[]): Share[] {
  const bytesOf = (slot: SlotRecord): number => {
    if (pool.kind !== 'device') return slot.memory_bytes ?? 0;
    return slot.memory?.pool === pool.id ? slot.memory.needed_bytes : 0;
  };
  return slots
    .map(
      (slot, at): Share => ({
        id: slot.name,
        label: slot.name,
        bytes: bytesOf(slot),
        kind: 'slot',
        colour: (at % COLOURS) + 1,
      }),
    )
    .filter(({ bytes }) => bytes > 0);
}

/** Memory use of a pool by slot. Returns null when the free memory is unknown. */
export function poolUsageOf(pool: MemoryPoolRecord, slots: readonly SlotRecord[]): PoolUsage | null {
  if (pool.available_bytes === null || pool.total_bytes <= 0) return null;
  const used = Math.max(0, pool.total_bytes - pool.available_bytes);
  const claimed = holders(pool, slots);
  const sum = claimed.reduce((total, share) => total + share.bytes, 0);
  // GPU shares are estimates: scale them so that they do not exceed the measured use.
  const scale = pool.kind === 'device' && sum > used ? used / sum : 1;
  const held = claimed.map((share) => ({ ...share, bytes: share.bytes * scale }));
  const rest = Math.max(0, used - held.reduce((sum, share) => sum + share.bytes, 0));
  const label = pool.kind === 'device' && held.length === 0 ? 'in use' : 'other programs';
  const shares: Share[] =
    rest > 0 ? [...held, { id: '', label, bytes: rest, kind: 'other', colour: null }] : held;
  return { total: pool.total_bytes, used, free: pool.total_bytes - used, shares };
}
