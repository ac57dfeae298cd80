import { expect, test } from 'vitest';
import { similarity, storedVector, vectorOf } from './vector.ts';

const back = (numbers: readonly unknown[]) => {
  const stored = storedVector(numbers);
  return stored && vectorOf(stored);
};

test('a vector is stored with length 1, and similarity is the cosine', () => {
  const a = back([3, 4]) as Float32Array;
  expect([...a].map((value) => Math.round(value * 10))).toEqual([6, 8]);
  expect(similarity(a, a)).toBeCloseTo(1);
  expect(similarity(a, back([-4, 3]) as Float32Array)).toBeCloseTo(0);
  expect(similarity(a, back([1, 2, 3]) as Float32Array)).toBe(0);
});

test.each([
  ['empty', []],
  ['of length zero', [0, 0]],
  ['not finite', [1, Number.NaN]],
  ['no numbers', ['1', 2]],
  ['too long', Array(8_193).fill(1)],
])('not a vector: %s', (_, numbers) => expect(storedVector(numbers)).toBeNull());
