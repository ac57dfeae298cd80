import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { literalChoice } from './literal-choice.ts';
import { SchemaFault } from './schema-error.ts';

const judge = grammarJudge();
const grammarOf = (texts: readonly string[]): string => `root ::= ${literalChoice(texts, '')}`;

/** The largest number of alternatives inside one pair of parentheses. */
function widthOf(gbnf: string): number {
  const outside = gbnf.replaceAll(/"(?:\\.|[^"\\])*"/g, 'x');
  let width = 1;
  for (let text = outside; text.includes('('); ) {
    text = text.replaceAll(/\(([^()]*)\)/g, (_, inner: string) => {
      width = Math.max(width, inner.split('|').length);
      return 'x';
    });
  }
  return width;
}

describe('literalChoice', () => {
  it.each<[string, string[], string]>([
    ['one text', ['ab'], '"ab"'],
    ['the same text twice', ['ab', 'ab'], '"ab"'],
    ['nothing in common', ['a', 'b'], '("a" | "b")'],
    ['a common beginning', ['"red"', '"rose"'], String.raw`"\"r" ("ed\"" | "ose\"")`],
    ['a beginning of another', ['1', '12'], '"1" ("" | "2")'],
    ['characters outside the basic plane', ['😀', '😁'], '("😀" | "😁")'],
    ['an empty text', ['', 'a'], '("" | "a")'],
  ])('writes %s', (_, texts, expected) => {
    expect(literalChoice(texts, '')).toBe(expected);
  });

  it('matches exactly the texts', async () => {
    const text = fc.stringMatching(/^[ab"\\😀é]{0,6}$/u);
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 20 }),
        fc.array(text),
        async (texts, others) => {
          const matches = await judge(grammarOf(texts));
          for (const each of [...texts, ...others]) expect(matches(each), each).toBe(texts.includes(each));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('has few alternatives at each position of many values', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `"value_${i}"`);
    expect(widthOf(grammarOf(names))).toBeLessThanOrEqual(11);
    const words = Array.from({ length: 20_000 }, (_, i) => `"${i.toString(36).repeat(3)}"`);
    expect(widthOf(grammarOf(words))).toBeLessThanOrEqual(37);
  });

  it('accepts texts that each extend the one before', async () => {
    const texts = Array.from({ length: 400 }, (_, i) => 'a'.repeat(i + 1));
    const matches = await judge(grammarOf(texts));
    expect([matches('a'), matches('a'.repeat(400)), matches('a'.repeat(401)), matches('')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['begin differently', Array.from({ length: 1_001 }, (_, i) => `${String.fromCodePoint(0x4e00 + i)}x`)],
    ['each extend the one before', Array.from({ length: 1_200 }, (_, i) => 'a'.repeat(i))],
  ])('refuses more than 1,000 texts that %s', (_, texts) => {
    expect(() => literalChoice(texts, 'properties.a')).toThrow(SchemaFault);
    expect(() => literalChoice(texts, 'properties.a')).toThrow(
      /^properties\.a: more than 1000 of the listed values/,
    );
  });
});
