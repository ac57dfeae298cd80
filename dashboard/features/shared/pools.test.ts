import { describe, expect, it } from 'vitest';
import type { MemoryPoolRecord } from '../../../daemon/contract/hardware.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { poolUsageOf } from './pools.ts';

const pool = (over: Partial<MemoryPoolRecord> = {}): MemoryPoolRecord => ({
  id: 'host',
  kind: 'host',
  total_bytes: 1000,
  available_bytes: 400,
  carveout_bytes: 0,
  limited_by: 'host',
  devices: ['cpu'],
  ...over,
});
const slots = [
  { name: 'agent', memory_bytes: 250 },
  { name: 'embed', memory_bytes: null },
] as SlotRecord[];

describe('poolUsageOf', () => {
  it('splits host memory into slots, other programs and free', () => {
    expect(poolUsageOf(pool(), slots)).toEqual({
      total: 1000,
      used: 600,
      free: 400,
      shares: [
        { id: 'agent', label: 'agent', bytes: 250, kind: 'slot', colour: 1 },
        { id: '', label: 'other programs', bytes: 350, kind: 'other', colour: null },
      ],
    });
  });

  it('never counts resident memory against a card, and never invents what is free', () => {
    expect(poolUsageOf(pool({ kind: 'device' }), slots)?.shares).toEqual([
      { id: '', label: 'in use', bytes: 600, kind: 'other', colour: null },
    ]);
    expect(poolUsageOf(pool({ available_bytes: null }), slots)).toBeNull();
  });

  it('scales GPU estimates to the measured use', () => {
    const onCard = (needed_bytes: number) =>
      [
        { name: 'agent', memory_bytes: 50, memory: { pool: 'card', needed_bytes, source: 'estimated' } },
      ] as SlotRecord[];
    const card = pool({ id: 'card', kind: 'device' });
    expect(poolUsageOf(card, onCard(400))?.shares).toEqual([
      { id: 'agent', label: 'agent', bytes: 400, kind: 'slot', colour: 1 },
      { id: '', label: 'other programs', bytes: 200, kind: 'other', colour: null },
    ]);
    expect(poolUsageOf(card, onCard(900))?.shares).toEqual([
      { id: 'agent', label: 'agent', bytes: 600, kind: 'slot', colour: 1 },
    ]);
  });

  it('never returns a negative rest', () => {
    expect(poolUsageOf(pool({ available_bytes: 900 }), slots)?.shares).toHaveLength(1);
  });
});
