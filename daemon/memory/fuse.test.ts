import { expect, test } from 'vitest';
import { fuse } from './fuse.ts';

test('entries of both lists come first; higher ranks precede lower ones', () => {
  const joined = fuse([
    ['words', 'both'],
    ['meaning', 'both', 'last'],
  ]);
  expect(joined.map(({ id }) => id)).toEqual(['both', 'words', 'meaning', 'last']);
  expect(joined[0]?.score).toBeCloseTo(2 / 62);
  expect(joined[1]?.score).toBeCloseTo(1 / 61);
  expect(fuse([[], []])).toEqual([]);
});
