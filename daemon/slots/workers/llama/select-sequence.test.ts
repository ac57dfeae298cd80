import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Free, selectSequence } from './select-sequence.ts';

const kept = (shared: number, held: number, near = false): Free => ({ shared, held, near });

test.each<[string, Free[], number]>([
  ['nothing is free', [], 0],
  ['all are empty: the first', [kept(0, 0), kept(0, 0)], 0],
  ['a conversation goes on', [kept(0, 0), kept(900, 900), kept(0, 500)], 1],
  ['the longer of two beginnings', [kept(300, 300), kept(600, 700)], 1],
  ['of equals the one unused for longest', [kept(50, 50), kept(50, 60)], 0],
  ['a common beginning of short chats is used again', [kept(0, 0), kept(1000, 1200)], 1],
  ['a short common beginning does not cost a long conversation', [kept(100, 8000), kept(0, 0)], 1],
  ['nor another one, when none is empty: the one unused for longest', [kept(0, 300), kept(100, 8000)], 0],
  ['even where that is the one with the common beginning', [kept(100, 8000), kept(0, 300)], 0],
  ['half is enough', [kept(0, 0), kept(500, 1000)], 1],
  ['less than half is not', [kept(0, 0), kept(499, 1000)], 0],
  ['of empty ones one that is near', [kept(0, 0), kept(0, 0, true)], 1],
  ['an empty one before a near one', [kept(0, 300, true), kept(0, 0)], 1],
  ['a near one before the one unused for longest', [kept(0, 300), kept(0, 300, true), kept(9, 800, true)], 1],
  ['a conversation that goes on before both', [kept(0, 0, true), kept(900, 900)], 1],
  ['the longest of those that fit, not the longest of all', [kept(600, 9000), kept(200, 300)], 1],
])('%s', (_, free, chosen) => {
  expect(selectSequence(free)).toBe(chosen);
});

const some = fc.tuple(fc.nat(5_000), fc.nat(5_000)).map(([a, b]) => kept(Math.min(a, b), Math.max(a, b)));

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
