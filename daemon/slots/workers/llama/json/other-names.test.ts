import fc from 'fast-check';
import { expect, test } from 'vitest';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { otherNames } from './other-names.ts';

const judge = grammarJudge();

const matcherFor = (names: string[]) => judge(`root ::= ${otherNames(names)}`);

const name = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '🌸', ']', '^', '-', ' '),
  maxLength: 4,
});

test('matches any string except the names, however similar', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { maxLength: 6 }),
      fc.array(name, { maxLength: 10 }),
      async (names, others) => {
        const matches = await matcherFor(names);
        for (const word of [...names, ...others, ...names.map((one) => `${one}a`)])
          expect(matches(JSON.stringify(word)), JSON.stringify(word)).toBe(!names.includes(word));
      },
    ),
    { numRuns: 100 },
  );
});

test('matches only one spelling of a name', async () => {
  const matches = await matcherFor(['a/b']);
  for (const written of ['"\\u0061/b"', '"a\\/b"', '"\\u0062"'])
    expect(matches(written), written).toBe(false);
});

test('a very long name adds no depth', async () => {
  const matches = await matcherFor(['x'.repeat(5_000)]);
  expect([matches('"x"'), matches(`"${'x'.repeat(63)}y"`), matches(`"${'x'.repeat(5_000)}"`)]).toEqual([
    true,
    true,
    false,
  ]);
});
