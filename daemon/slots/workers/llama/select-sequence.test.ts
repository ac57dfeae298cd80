import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Free, selectSequence } from './select-sequence.ts';

const entry = (shared: number, held: number, near = false): Free => ({ shared, held, near });

test.each<[string, Free[], number]>([
  ['nothing is free', [], 0],
  ['all are empty: the first', [entry(0, 0), entry(0, 0)], 0],
  ['a continued conversation', [entry(0, 0), entry(900, 900), entry(0, 500)], 1],
  ['the longer of two prefixes', [entry(300, 300), entry(600, 700)], 1],
  ['the least recently used of equals', [entry(50, 50), entry(50, 60)], 0],
  ['reuses a common prefix of short chats', [entry(0, 0), entry(1000, 1200)], 1],
  ['a short common prefix does not evict a long conversation', [entry(100, 8000), entry(0, 0)], 1],
  ['without an empty one, evicts the least recently used', [entry(0, 300), entry(100, 8000)], 0],
  ['even if that one has the common prefix', [entry(100, 8000), entry(0, 300)], 0],
  ['half is enough', [entry(0, 0), entry(500, 1000)], 1],
  ['less than half is not', [entry(0, 0), entry(499, 1000)], 0],
  ['prefers a near one of the empty ones', [entry(0, 0), entry(0, 0, true)], 1],
  ['prefers an empty one to a near one', [entry(0, 300, true), entry(0, 0)], 1],
  [
    'prefers a near one to the least recently used',
    [entry(0, 300), entry(0, 300, true), entry(9, 800, true)],
    1,
  ],
  ['prefers a continued conversation to both', [entry(0, 0, true), entry(900, 900)], 1],
  ['the longest prefix of those allowed, not of all', [entry(600, 9000), entry(200, 300)], 1],
])('%s', (_, free, chosen) => {
  expect(selectSequence(free)).toBe(chosen);
});

const some = fc.tuple(fc.nat(5_000), fc.nat(5_000)).map(([a, b]) => entry(Math.min(a, b), Math.max(a, b)));

test('never costs more than it saves while an empty sequence is free', () => {
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 16 }), (free) => {
      const chosen = free[selectSequence(free)] as Free;
      expect(chosen).toBeDefined();
      if (free.some(({ held }) => held === 0))
        expect(chosen.held - chosen.shared).toBeLessThanOrEqual(chosen.shared);
    }),
  );
});
