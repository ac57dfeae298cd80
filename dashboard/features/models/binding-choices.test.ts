import { expect, test } from 'vitest';
import { choicesOf } from './binding-choices.ts';

const slots = [
  { name: 'a', model: 'm' },
  { name: 'b', model: 'other' },
];
const words = (binding: string | null, binding_chosen: boolean) =>
  choicesOf({ id: 'm', binding, binding_chosen }, slots, ['desk']).map(({ word }) => word);

test('slots that serve it, upstreams, and the gateway, with the slot that it takes', () => {
  const others = ['Slot a', 'Upstream desk'];
  expect(words(null, false)).toEqual(['The gateway chooses', ...others]);
  expect(words('slot:a', false)).toEqual(['The gateway chooses (slot a)', ...others]);
  expect(words('slot:a', true)).toEqual(['The gateway chooses', ...others]);
});

test('what was chosen stays a choice when it serves it no more', () => {
  expect(words('slot:b', true).at(-1)).toBe('slot:b (does not serve it now)');
  expect(words('upstream:gone', true).at(-1)).toBe('upstream:gone (does not serve it now)');
});
