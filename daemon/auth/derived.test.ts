import { expect, it } from 'vitest';
import { derived } from './derived.ts';

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

it('a value that is nothing is computed once too', () => {
  let computed = 0;
  const nothing = derived(
    () => 1,
    () => {
      computed++;
      return null;
    },
  );
  expect([nothing(), nothing(), computed]).toEqual([null, null, 1]);
});

it('computes for a source that is undefined', () => {
  expect(
    derived(
      () => undefined,
      () => 'x',
    )(),
  ).toBe('x');
});
