import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bound, decimalRange } from './decimal-range.ts';

/** Converts the subset of GBNF that ranges use to a regular expression. */
const regex = (gbnf: string | null) =>
  gbnf === null
    ? /(?!)/
    : new RegExp(`^(?:${gbnf.replaceAll('"."', '\\.').replaceAll('"', '').replaceAll(' ', '')})$`);

const number = fc.oneof(
  fc.integer({ min: -1200, max: 1200 }),
  fc.integer({ min: -120_000, max: 120_000 }).map((n) => n / 100),
  fc.integer({ min: -1000, max: 1000 }).map((n) => n / 1e6),
);
const bound: fc.Arbitrary<Bound | null> = fc.option(fc.record({ value: number, open: fc.boolean() }));

test('a range matches exactly the decimals between its bounds', () => {
  fc.assert(
    fc.property(bound, bound, fc.array(number, { maxLength: 20 }), (a, b, others) => {
      const range = regex(decimalRange(a, b));
      const near = [a, b].flatMap((end) =>
        end === null
          ? []
          : [
              end.value,
              end.value + 1,
              end.value - 1,
              ...[1e-3, 1e-7].flatMap((d) => [end.value + d, end.value - d]),
            ],
      );
      for (const n of [0, 1, -1, 0.5, -0.5, 9.99, 10, 100, ...near, ...others]) {
        const text = Number(n.toFixed(9)).toString();
        const value = Number(text);
        if (Object.is(value, -0) || text.includes('e')) continue;
        const over = a === null || value > a.value || (!a.open && value === a.value);
        const under = b === null || value < b.value || (!b.open && value === b.value);
        expect(range.test(text), `${text} in ${JSON.stringify([a, b])}`).toBe(over && under);
      }
    }),
    { numRuns: 500 },
  );
});

test.each<[Bound | null, Bound | null, string[], string[]]>([
  [
    { value: 0, open: false },
    { value: 1, open: false },
    ['0', '1', '0.0', '1.00', '0.5'],
    ['-0', '-0.1', '1.01', '.5', '00.5', '1.'],
  ],
  [{ value: 0, open: true }, null, ['0.001', '7', '1000000.5'], ['0', '0.0', '-1']],
  [null, { value: -2.5, open: true }, ['-2.51', '-3', '-2.5001'], ['-2.5', '-2.50', '-2', '0']],
  [
    { value: 1e-7, open: false },
    { value: 1e-6, open: true },
    ['0.0000001', '0.0000009'],
    ['0.000001', '0.00000009', '0'],
  ],
  [{ value: 1.25, open: false }, { value: 1.25, open: false }, ['1.25', '1.2500'], ['1.2', '1.251', '1.3']],
])('%j to %j', (min, max, fits, not) => {
  const range = regex(decimalRange(min, max));
  for (const text of fits) expect(range.test(text), text).toBe(true);
  for (const text of not) expect(range.test(text), text).toBe(false);
});

test('a range without numbers is null', () => {
  expect(decimalRange({ value: 1, open: true }, { value: 1, open: false })).toBeNull();
  expect(decimalRange({ value: 2, open: false }, { value: 1, open: false })).toBeNull();
  expect(decimalRange({ value: 0, open: true }, { value: 0, open: false })).toBeNull();
});
