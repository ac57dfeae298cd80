import { expect, test } from 'vitest';
import { toHalf } from './half-float.ts';

test.each([
  [0, 0x0000],
  [-0, 0x8000],
  [1, 0x3c00],
  [-2, 0xc000],
  [65504, 0x7bff],
  [65520, 0x7c00],
  [Number.POSITIVE_INFINITY, 0x7c00],
  [2 ** -14, 0x0400],
  [2 ** -24, 0x0001],
  [2 ** -26, 0x0000],
  [1 + 2 ** -11, 0x3c00],
  [1 + 3 * 2 ** -11, 0x3c02],
  [2047.9999, 0x6800],
])('%f has the half-precision bits', (value, bits) => {
  expect(toHalf(value)).toBe(bits);
});

test('NaN stays NaN', () => {
  expect(toHalf(Number.NaN) & 0x7fff).toBeGreaterThan(0x7c00);
});
