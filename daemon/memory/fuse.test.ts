import { expect, test } from 'vitest';
import { fuse } from './fuse.ts';

test('what is in both lists comes first; higher ranks of one list beat lower ones', () => {
  const joined = fuse([
    ['words', 'both'],
    ['meaning', 'both', 'last'],
  ]);
  expect(joined.map(({ id }) => id)).toEqual(['both', 'words', 'meaning', 'last']);
  expect(joined[0]?.score).toBeCloseTo(2 / 62);
  expect(joined[1]?.score).toBeCloseTo(1 / 61);
  expect(fuse([[], []])).toEqual([]);
});
