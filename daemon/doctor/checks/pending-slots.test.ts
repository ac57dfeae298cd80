import { expect, test } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { pendingSlots } from './pending-slots.ts';

const check = (...slots: Pick<SlotRecord, 'name' | 'pending'>[]) =>
  pendingSlots({ gateway: { slots } } as unknown as DoctorInput);

test('names each slot whose file has changed, the keys and the command', () => {
  expect(check()).toEqual([]);
  expect(check({ name: 'agent' }, { name: 'quick', pending: [] })).toEqual([]);
  expect(check({ name: 'agent' }, { name: 'big', pending: ['context', 'parallel'] })).toEqual([
    {
      id: 'slots',
      status: 'warn',
      message: 'Slot big runs without the changes of its file: context, parallel.',
      fix: 'svcctl slots restart big, or wait for its next start.',
    },
  ]);
});
