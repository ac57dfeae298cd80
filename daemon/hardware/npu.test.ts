import { expect, test } from 'vitest';
import { parseRockchipLoad } from './npu.ts';

test('returns the mean of all cores', () => {
  expect(parseRockchipLoad('NPU load:  Core0: 37%, Core1:  0%, Core2:  0%,')).toBe(12);
});

test('returns no number without permission', () => {
  expect(parseRockchipLoad(null)).toBeNull();
  expect(parseRockchipLoad('0@1000000000Hz')).toBeNull();
});
