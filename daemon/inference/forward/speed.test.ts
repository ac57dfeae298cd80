import { expect, test } from 'vitest';
import { speedOf } from './speed.ts';

test.each([
  ['one token in 0.08 ms', 1, 12_803.072_4, null],
  ['four', 4, 50, null],
  ['five', 5, 41.549, 41.5],
  ['an engine that counts nothing', null, 41.25, 41.3],
  ['an engine that reports no speed', 100, null, null],
  ['no time at all', 100, Number.POSITIVE_INFINITY, null],
])('%s', (_, tokens, perSecond, speed) => {
  expect(speedOf(tokens, perSecond)).toBe(speed);
});
