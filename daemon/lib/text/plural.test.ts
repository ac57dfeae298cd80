import { expect, test } from 'vitest';
import { plural } from './plural.ts';

test('one has no plural s', () => {
  expect([0, 1, 2].map((count) => plural(count, 'thread'))).toEqual(['0 threads', '1 thread', '2 threads']);
});
