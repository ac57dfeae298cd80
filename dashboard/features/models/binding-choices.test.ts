import { expect, test } from 'vitest';
import { choicesOf } from './binding-choices.ts';

const slots = [
  { name: 'a', model: 'm' },
  { name: 'b', model: 'other' },
];
const words = (binding: string | null, binding_chosen: boolean) =>
  choicesOf({ id: 'm', binding, binding_chosen }, slots, ['desk']).map(({ word }) => word);

test('offers automatic, the slots that serve the model, and upstreams', () => {
  const others = ['Slot a', 'Upstream desk'];
  expect(words(null, false)).toEqual(['Automatic', ...others]);
  expect(words('slot:a', false)).toEqual(['Automatic (slot a)', ...others]);
  expect(words('slot:a', true)).toEqual(['Automatic', ...others]);
});

test('keeps the current choice when it no longer serves the model', () => {
  expect(words('slot:b', true).at(-1)).toBe('slot:b (no longer serves this model)');
  expect(words('upstream:gone', true).at(-1)).toBe('upstream:gone (no longer serves this model)');
});
