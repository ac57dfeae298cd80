import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeRange } from './integer-range.ts';

/** Converts the subset of GBNF that ranges use to a regular expression. */
const regex = (gbnf: string) => new RegExp(`^${gbnf.replaceAll('"', '').replaceAll(' ', '')}$`);

const bound = fc.option(
  fc.oneof(
    fc.integer({ min: -1200, max: 1200 }),
    fc.maxSafeInteger().map((n) => n % 1e12),
  ),
);

test('a range matches exactly the integers between its bounds', () => {
  fc.assert(
    fc.property(bound, bound, fc.array(fc.integer({ min: -2000, max: 2000 })), (a, b, others) => {
      const [min, max] = a !== null && b !== null && a > b ? [b, a] : [a, b];
      const range = regex(wholeRange(min, max) ?? '');
      const near = [min, max].flatMap((n) => (n === null ? [] : [n - 1, n, n + 1]));
      for (const n of [0, -1, 1, 9, 10, 99, 100, -10, ...near, ...others]) {
        const inside = (min === null || n >= min) && (max === null || n <= max);
        expect(range.test(String(n)), `${n} in ${min}..${max}`).toBe(inside);
      }
    }),
    { numRuns: 500 },
  );
});

test('matches no leading zeros and no minus zero, and an empty range is null', () => {
  expect(regex(wholeRange(0, 200) ?? '').test('007')).toBe(false);
  expect(regex(wholeRange(-5, 5) ?? '').test('-0')).toBe(false);
  expect(wholeRange(5, 4)).toBeNull();
});
