import { expect, it } from 'vitest';
import { derived } from './live.ts';

it('computes again only when the source was replaced', () => {
  let list = ['a'];
  let computed = 0;
  const size = derived(
    () => list,
    (value) => {
      computed++;
      return value.length;
    },
  );
  expect([size(), size(), computed]).toEqual([1, 1, 1]);
  list = ['a', 'b'];
  expect([size(), size(), computed]).toEqual([2, 2, 2]);
});
