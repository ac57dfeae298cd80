import { expect, test } from 'vitest';
import { memoize } from './memoize.ts';

test('it is asked once for each text, also where it has no answer', () => {
  const asked: string[] = [];
  const length = memoize((text) => {
    asked.push(text);
    return text === '' ? undefined : text.length;
  });
  expect([length('ab'), length('ab'), length(''), length(''), length('abc')]).toEqual([
    2,
    2,
    undefined,
    undefined,
    3,
  ]);
  expect(asked).toEqual(['ab', '', 'abc']);
});

test('what is remembered is bounded', () => {
  let asked = 0;
  const once = memoize((text) => {
    asked++;
    return text;
  }, 2);
  for (const text of ['a', 'b', 'c', 'a']) expect(once(text)).toBe(text);
  expect(asked).toBe(4);
});
