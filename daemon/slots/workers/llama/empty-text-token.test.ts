import { expect, test } from 'vitest';
import { emptyTextMark } from './empty-text-token.ts';

/** Adds each mark only where it is missing, as the library does. */
const around =
  (first: number | null, last: number | null) =>
  (tokens: readonly number[]): number => {
    const input = [...tokens];
    if (first !== null && input[0] !== first) input.unshift(first);
    if (last !== null && input.at(-1) !== last) input.push(last);
    return input.length;
  };

test.each([
  ['a beginning and an end', around(1, 2), 1],
  ['a beginning', around(1, null), 1],
  ['an end', around(null, 2), 2],
  ['one mark that is both', around(3, 3), 3],
])('returns a mark for an empty text when the model adds %s', (_, lengthOf, mark) => {
  expect(emptyTextMark([1, 3, 2], lengthOf, 'input')).toBe(mark);
});

test('refuses an empty text by its index when the model adds no mark', () => {
  expect(() => emptyTextMark([1, null, 2], around(null, null), 'input[1]')).toThrow(
    'input[1]: has no tokens',
  );
});
