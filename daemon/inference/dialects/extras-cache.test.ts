import { expect, test } from 'vitest';
import { ExtrasCache } from './extras-cache.ts';

test('extra fields belong to one upstream and call', () => {
  const cache = new ExtrasCache();
  cache.store('a', 'call', { n: 1 });
  cache.store('b', 'call', { n: 2 });
  cache.store('b', 'call', { n: 3 });
  expect(cache.of('a', 'call')).toEqual({ n: 1 });
  expect(cache.of('b', 'call')).toEqual({ n: 3 });
  expect([cache.of('b', 'other'), cache.of('c', 'call')]).toEqual([undefined, undefined]);
});

test('drops the oldest first, by number', () => {
  const cache = new ExtrasCache();
  for (let n = 0; n <= 4_096; n++) cache.store('a', String(n), { n });
  expect([cache.of('a', '0'), cache.of('a', '1'), cache.of('a', '4096')]).toEqual([
    undefined,
    { n: 1 },
    { n: 4_096 },
  ]);
});

test('drops by size, and stores nothing above the total limit', () => {
  const cache = new ExtrasCache();
  const half = 'x'.repeat(4 * 1024 * 1024 - 100);
  for (const id of ['1', '2', '2', '3']) cache.store('a', id, { half });
  expect(cache.of('a', '1')).toBeUndefined();
  expect([cache.of('a', '2'), cache.of('a', '3')]).toEqual([{ half }, { half }]);
  cache.store('a', '4', { all: half + half + half });
  expect(cache.of('a', '4')).toBeUndefined();
  expect(cache.of('a', '3')).toEqual({ half });
});
