import { expect, test } from 'vitest';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { holderOf, isLoaded } from './holder.ts';

const slot = (name: string, state: SlotRecord['state'], model = 'm', enabled = true): SlotRecord =>
  ({ name, state, model, enabled }) as SlotRecord;
const name = (binding: string | null, ...slots: SlotRecord[]) => holderOf({ id: 'm', binding }, slots)?.name;

test.each([
  ['none has it', null, [slot('a', 'ready', 'other')], undefined],
  ['a disabled one does not count', null, [slot('a', 'offline', 'm', false)], undefined],
  ['the loaded one', 'slot:b', [slot('a', 'ready'), slot('b', 'offline')], 'a'],
  ['the bound one', 'slot:b', [slot('a', 'offline'), slot('b', 'offline')], 'b'],
  ['the one that loads', null, [slot('a', 'offline'), slot('b', 'warming')], 'b'],
  ['any', null, [slot('a', 'error'), slot('b', 'offline')], 'a'],
])('%s', (_what, binding, slots, expected) => expect(name(binding, ...slots)).toBe(expected));

test('only a ready slot can answer immediately', () => {
  expect([slot('a', 'serving'), slot('a', 'starting'), undefined].map(isLoaded)).toEqual([
    true,
    false,
    false,
  ]);
});
