import type { MemoryPoolRecord } from '../../../daemon/contract/hardware.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

export interface Share {
  id: string;
  label: string;
  bytes: number;
  kind: 'slot' | 'other';
}

export interface PoolPicture {
  total: number;
  used: number;
  free: number;
  shares: Share[];
}

/** Resident memory of engines is memory of the host, whatever device computes. */
function holders(pool: MemoryPoolRecord, slots: readonly SlotRecord[]): Share[] {
  if (pool.kind === 'device') return [];
  return slots
    .filter((slot) => (slot.memory_bytes ?? 0) > 0)
    .map((slot) => ({ id: slot.name, label: slot.name, bytes: slot.memory_bytes ?? 0, kind: 'slot' }));
}

/** Who holds the memory of a pool and what is free; null when what is free could not be read. */
export function pictureOf(pool: MemoryPoolRecord, slots: readonly SlotRecord[]): PoolPicture | null {
  if (pool.available_bytes === null || pool.total_bytes <= 0) return null;
  const used = Math.max(0, pool.total_bytes - pool.available_bytes);
  const held = holders(pool, slots);
  const rest = Math.max(0, used - held.reduce((sum, share) => sum + share.bytes, 0));
  const label = pool.kind === 'device' ? 'in use' : 'other programs';
  const shares: Share[] = rest > 0 ? [...held, { id: '', label, bytes: rest, kind: 'other' }] : held;
  return { total: pool.total_bytes, used, free: pool.total_bytes - used, shares };
}
