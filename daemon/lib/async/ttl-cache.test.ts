import { expect, test } from 'vitest';
import { TtlCache } from './ttl-cache.ts';

test('entries expire after their time, and the size is bounded', () => {
  let now = 0;
  const cache = new TtlCache<number>({ maxEntries: 2, ttlMs: 100, now: () => now });
  cache.set('a', 1);
  cache.set('b', 2);
  expect([cache.get('a'), cache.get('none')]).toEqual([1, undefined]);
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 3]);
  now = 50;
  cache.set('b', 4);
  now = 120;
  expect([cache.get('b'), cache.get('c')]).toEqual([4, undefined]);
});
