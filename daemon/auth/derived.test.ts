import { expect, it } from 'vitest';
import { derived } from './derived.ts';

it('recomputes only after the source was replaced', () => {
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

it('an undefined value is also computed once', () => {
  let computed = 0;
  const undefinedValue = derived(
    () => 1,
    () => {
      computed++;
      return null;
    },
  );
  expect([undefinedValue(), undefinedValue(), computed]).toEqual([null, null, 1]);
});

it('computes a value for an undefined source', () => {
  expect(
    derived(
      () => undefined,
      () => 'x',
    )(),
  ).toBe('x');
});
