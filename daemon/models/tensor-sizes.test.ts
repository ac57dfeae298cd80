import { expect, test } from 'vitest';
import { tensorBytes, tensorDataEnd } from './tensor-sizes.ts';

test.each([
  ['F32', 0, 1024],
  ['F16', 1, 512],
  ['Q8_0', 8, 272],
  ['Q4_K', 12, 144],
  ['Q6_K', 14, 210],
  ['one that is not known', 999, 0],
])('%s', (_, dtype, bytes) => {
  expect(tensorBytes({ dtype, shape: [128n, 2n], offset: 0n })).toBe(bytes);
});

test('the data ends where the last tensor ends, in any order', () => {
  const at = (offset: bigint, rows: bigint) => ({ dtype: 0, shape: [4n, rows], offset });
  expect(tensorDataEnd([at(64n, 2n), at(0n, 3n)], 100)).toBe(100 + 64 + 32);
  expect(tensorDataEnd([], 100)).toBe(100);
});
