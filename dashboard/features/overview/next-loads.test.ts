import { expect, test } from 'vitest';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { slotRecord } from '../../../daemon/contract/testing/slot-record.ts';
import { nextLoads } from './next-loads.ts';

const slot = (name: string, over: Partial<SlotRecord> = {}): SlotRecord =>
  slotRecord({ name, state: 'offline', ...over });

test('loaded, disabled, empty and remote slots are not candidates', () => {
  const slots = [
    slot('a', { state: 'ready' }),
    slot('b', { enabled: false }),
    slot('c', { model: null }),
    slot('d', { runner: 'attach' }),
    slot('e', { state: 'error' }),
  ];
  expect(nextLoads(slots)).toEqual([]);
});

test('waiting slots come first, then slots with a file, agent before others; three at most', () => {
  const slots = [
    slot('auto-x', { auto: true }),
    slot('coder'),
    slot('agent'),
    slot('late', { auto: true, waiting_for: ['agent'] }),
  ];
  expect(nextLoads(slots)).toEqual(['late', 'agent', 'coder']);
});
