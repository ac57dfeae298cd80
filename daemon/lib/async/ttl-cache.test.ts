import { expect, test } from 'vitest';
import { TtlCache } from './ttl-cache.ts';

test('answers are kept for their time, so many at most', () => {
  let now = 0;
  const kept = new TtlCache<number>({ maxEntries: 2, ttlMs: 100, now: () => now });
  kept.set('a', 1);
  kept.set('b', 2);
  expect([kept.get('a'), kept.get('none')]).toEqual([1, undefined]);
  kept.set('c', 3);
  expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([undefined, 2, 3]);
  now = 50;
  kept.set('b', 4);
  now = 120;
  expect([kept.get('b'), kept.get('c')]).toEqual([4, undefined]);
});
