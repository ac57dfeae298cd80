import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordsOf } from './words.ts';

test.each([
  [
    'letters with a space between words',
    { tokens: ['g', 'o', ' ', 'm', 'y', '.'], timestamps: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] },
    [
      { word: 'go', start: 10.1, end: 10.3 },
      { word: 'my.', start: 10.4, end: 11 },
    ],
  ],
  [
    'pieces with a word start mark',
    { tokens: ['▁hel', 'lo', '▁you', '?'], timestamps: [0, 0.2, 1, 1.2] },
    [
      { word: 'hello', start: 10, end: 10.6 },
      { word: 'you?', start: 11, end: 11.6 },
    ],
  ],
  [
    'pieces with a space and durations',
    { tokens: [' a', ' b'], timestamps: [0, 1], durations: [0.1, 0.2] },
    [
      { word: 'a', start: 10, end: 10.1 },
      { word: 'b', start: 11, end: 11.2 },
    ],
  ],
  [
    'a script without spaces',
    { tokens: ['你', '好', 'a', 'b'], timestamps: [0, 0.2, 0.4, 0.6] },
    [
      { word: '你', start: 10, end: 10.2 },
      { word: '好ab', start: 10.2, end: 11 },
    ],
  ],
])('%s', (_, timed, words) => expect(wordsOf(timed, 10, 12)).toEqual(words));

test.each([
  ['no times', { tokens: ['a'], timestamps: [] }],
  ['no tokens', {}],
  ['decreasing times', { tokens: ['a', 'b'], timestamps: [1, 0.5] }],
  ['times beyond the segment', { tokens: ['a', 'b'], timestamps: [1, 2.5] }],
  ['an invalid time', { tokens: ['a'], timestamps: [Number.NaN] }],
])('%s: invents no times', (_, timed) => expect(wordsOf(timed, 10, 12)).toBeNull());

test('words contain every letter, in order and within the segment', () => {
  const token = fc.constantFrom(' ', 'a', '▁b', ' c', 'd.', '你');
  fc.assert(
    fc.property(fc.array(token, { minLength: 1 }), (tokens) => {
      const timestamps = tokens.map((_, at) => (at * 10) / tokens.length);
      const words = wordsOf({ tokens, timestamps }, 5, 15) ?? [];
      expect(words.map(({ word }) => word).join('')).toBe(tokens.join('').replaceAll(/[\s▁]/g, ''));
      for (const [at, { start, end }] of words.entries()) {
        expect(start).toBeGreaterThanOrEqual(words[at - 1]?.end ?? 5);
        expect(end).toBeGreaterThanOrEqual(start);
        expect(end).toBeLessThanOrEqual(15);
      }
    }),
  );
});
