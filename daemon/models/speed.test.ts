import { expect, test } from 'vitest';
import { estimateSpeed } from './speed.ts';

const GB = 1e9;
test.each([
  ['8B Q4 on a card of 936 GB/s', 4.9 * GB, 936 * GB, null, 68, 100],
  ['27B Q4 on a card of 936 GB/s', 16.5 * GB, 936 * GB, null, 24, 40],
  ['0.6B Q8 on two cores', 0.64 * GB, 20 * GB, 2, 8.9, 15],
  ['30B with 3B active on two cores', 1.9 * GB, 20 * GB, 2, 3.1, 5.4],
  ['20B dense on two cores', 12 * GB, 20 * GB, 2, 0.49, 0.86],
])('%s', (_, activeBytes, bandwidth, cores, low, high) => {
  expect(estimateSpeed({ activeBytes, bandwidth, cores })).toEqual({ low, high, measured: false });
});
