import { expect, test } from 'vitest';
import { ExtrasCache } from './extras-cache.ts';

test('an extra belongs to its own upstream and call', () => {
  const kept = new ExtrasCache();
  kept.store('a', 'call', { n: 1 });
  kept.store('b', 'call', { n: 2 });
  kept.store('b', 'call', { n: 3 });
  expect(kept.of('a', 'call')).toEqual({ n: 1 });
  expect(kept.of('b', 'call')).toEqual({ n: 3 });
  expect([kept.of('b', 'other'), kept.of('c', 'call')]).toEqual([undefined, undefined]);
});

test('drops the oldest first, by number', () => {
  const kept = new ExtrasCache();
  for (let n = 0; n <= 4_096; n++) kept.store('a', String(n), { n });
  expect([kept.of('a', '0'), kept.of('a', '1'), kept.of('a', '4096')]).toEqual([
    undefined,
    { n: 1 },
    { n: 4_096 },
  ]);
});

test('drops by size, and stores nothing above the total limit', () => {
  const kept = new ExtrasCache();
  const half = 'x'.repeat(4 * 1024 * 1024 - 100);
  for (const id of ['1', '2', '2', '3']) kept.store('a', id, { half });
  expect(kept.of('a', '1')).toBeUndefined();
  expect([kept.of('a', '2'), kept.of('a', '3')]).toEqual([{ half }, { half }]);
  kept.store('a', '4', { all: half + half + half });
  expect(kept.of('a', '4')).toBeUndefined();
  expect(kept.of('a', '3')).toEqual({ half });
});
