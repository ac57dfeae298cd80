import { expect, test } from 'vitest';
import { mapYielding } from './map-yielding.ts';

const items = Array.from({ length: 50 }, (_, i) => i);

test('maps in order and yields to the event loop', async () => {
  let turns = 0;
  const other = setInterval(() => turns++, 0);
  const start = performance.now();
  const mapped = await mapYielding(items, new AbortController().signal, (item, index) => {
    while (performance.now() < start + index) turns += 0;
    return item * 2 + index;
  });
  clearInterval(other);
  expect(mapped).toEqual(items.map((item) => item * 3));
  expect(turns).toBeGreaterThan(0);
});

test('throws the reason after a disconnect', async () => {
  const leave = new AbortController();
  const visited: number[] = [];
  const mapping = mapYielding(items, leave.signal, (item) => {
    visited.push(item);
    if (item === 20) leave.abort(new Error('left'));
  });
  await expect(mapping).rejects.toThrow('left');
  expect(visited.at(-1)).toBe(20);
});
