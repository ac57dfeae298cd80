import { expect, test } from 'vitest';
import { memoize } from './memoize.ts';

test('computes once per text, also for an undefined result', () => {
  const computed: string[] = [];
  const length = memoize((text) => {
    computed.push(text);
    return text === '' ? undefined : text.length;
  });
  expect([length('ab'), length('ab'), length(''), length(''), length('abc')]).toEqual([
    2,
    2,
    undefined,
    undefined,
    3,
  ]);
  expect(computed).toEqual(['ab', '', 'abc']);
});

test('the cache is bounded', () => {
  let computed = 0;
  const once = memoize((text) => {
    computed++;
    return text;
  }, 2);
  for (const text of ['a', 'b', 'c', 'a']) expect(once(text)).toBe(text);
  expect(computed).toBe(4);
});
