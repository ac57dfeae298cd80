import { expect, test } from 'vitest';
import { tooLong } from './item-list.ts';
import type { Item } from './items.ts';

const textItem = (text: string): Item => ({
  id: 'i',
  object: 'realtime.item',
  status: 'completed',
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

test('a conversation holds four million characters', () => {
  const million = textItem('x'.repeat(1024 * 1024 - 1_000));
  const items = Array.from({ length: 4 }, () => ({ ...million }));
  expect(tooLong(items)).toBe(false);
  expect(tooLong([...items, textItem('x'.repeat(4_000))])).toBe(true);
});

test('an item is measured once, and its replacement separately', () => {
  let read = 0;
  const item = textItem('short');
  Object.defineProperty(item, 'id', { enumerable: true, get: () => `i${read++}` });
  for (let turn = 0; turn < 100; turn++) expect(tooLong([item])).toBe(false);
  expect(read).toBe(1);
  expect(tooLong([textItem('x'.repeat(5 * 1024 * 1024))])).toBe(true);
});
