import { expect, test } from 'vitest';
import { normalised, toBase64, toNumbers } from './embedding-vector.ts';

test('scales to length 1 and keeps the direction', () => {
  expect([...normalised([3, -4])]).toEqual([3 / 5, -4 / 5].map(Math.fround));
  const long = normalised(Array.from({ length: 5_000 }, (_, i) => i - 2_500));
  expect(Math.sqrt(long.reduce((sum, value) => sum + value * value, 0))).toBeCloseTo(1, 5);
});

test('leaves a zero vector unchanged', () => {
  expect([...normalised([0, 0])]).toEqual([0, 0]);
});

test('encodes four bytes per number, low byte first', () => {
  expect(Buffer.from(toBase64(Float32Array.of(1, -2)), 'base64').toString('hex')).toBe('0000803f000000c0');
});

test('rounds to short numbers that parse to the same float32', () => {
  const vector = Float32Array.from({ length: 200 }, (_, i) => Math.sin(i) / 7);
  const text = JSON.stringify(toNumbers(vector));
  expect(Float32Array.from(JSON.parse(text))).toEqual(vector);
  expect(text.length / 200).toBeLessThan(15);
});
