import { expect, it } from 'vitest';
import { SlotName } from '../../contract/slots.ts';
import { slotNameFor } from './slot-name.ts';

it.each([
  ['tiny', 'tiny'],
  ['Qwen3-0.6B-Q8_0', 'qwen3-0-6b-q8_0'],
  ['__x..', 'x'],
  ['...', 'model'],
  ['agent', 'agent-2'],
  ['Embed', 'embed-2'],
  ['a'.repeat(40), 'a'.repeat(32)],
])('%s is served by slot %s', (id, name) => {
  expect(slotNameFor(id, () => false)).toBe(name);
  expect(SlotName.safeParse(name).success).toBe(true);
});

it('adds a number to a used name and stays within the maximum length', () => {
  const used = new Set(['a', 'a-2', 'b'.repeat(32)]);
  expect(slotNameFor('a', (name) => used.has(name))).toBe('a-3');
  expect(slotNameFor('b'.repeat(50), (name) => used.has(name))).toBe(`${'b'.repeat(30)}-2`);
});
