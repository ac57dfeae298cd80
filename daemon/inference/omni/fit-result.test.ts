import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitResult } from './fit-result.ts';

const MOST = 16_384;
const read = (result: unknown, most = MOST) => {
  const text = fitResult(result, most);
  expect(text.length).toBeLessThanOrEqual(most);
  return JSON.parse(text);
};

test('a result that fits is unchanged', () => {
  const result = { memories: [{ text: 'a' }], mode: 'words' };
  expect(read(result)).toEqual(result);
});

test('a list is cut at whole items with a count', () => {
  const memories = Array.from({ length: 4 }, (_, id) => ({ id, text: String(id).repeat(6_000) }));
  expect(read({ memories, mode: 'words' })).toEqual({
    memories: memories.slice(0, 2),
    mode: 'words',
    omitted: 2,
  });
});

test('the longest list is cut', () => {
  const result = { ids: [1, 2, 3], results: Array.from({ length: 9 }, () => 'x'.repeat(4_000)) };
  expect(read(result)).toMatchObject({ ids: [1, 2, 3], omitted: 5 });
});

test('the first item stays, with a shortened text', () => {
  const memories = Array.from({ length: 3 }, (_, id) => ({ id, text: 'y'.repeat(20_000) }));
  const { memories: rest, omitted } = read({ memories });
  expect([rest.length, omitted, rest[0].id]).toEqual([1, 2, 0]);
  const [, head = '', count] = /^(y+) … \((\d+) characters left out\)$/.exec(rest[0].text) ?? [];
  expect(head.length + Number(count)).toBe(20_000);
  expect(head.length).toBeGreaterThan(15_000);
});

test.each([
  ['a text', { text: 'z'.repeat(100_000) }],
  ['a text that grows as JSON', { text: '"\n'.repeat(50_000) }],
  ['emoji', { text: '😄'.repeat(20_000) }],
  ['two texts', { answer: 'a'.repeat(15_000), more: 'b'.repeat(14_000) }],
  ['a bare text', 'q'.repeat(40_000)],
  ['one long item', { results: ['r'.repeat(40_000)] }],
])('%s is shortened with the number of missing characters', (_, result) => {
  const text = JSON.stringify(read(result));
  expect(text).toMatch(/ … \(\d+ characters left out\)/);
  expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
});

test('what cannot be shortened is an error', () => {
  const numbers = { vector: { ...Array.from({ length: 9_000 }, () => 0.5) } };
  expect(read(numbers)).toEqual({ error: { message: 'The result is too long.' } });
});

test('any result is valid JSON within the limit', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 80, max: 300 }), (result, most) => {
      read(result, most);
    }),
  );
});
