import { expect, test } from 'vitest';
import { pairRatios } from './compare-builds.ts';
import { parseOptions } from './options.ts';

test('each process of one build is compared with each process of the other', () => {
  expect(pairRatios([90, 110], [100, 200])).toEqual([0.9, 0.45, 1.1, 0.55]);
  expect(pairRatios([], [100])).toEqual([]);
});

test('--against names the commit to compare with', () => {
  expect(parseOptions(['--against', 'HEAD~1']).compareWith).toBe('HEAD~1');
  expect(parseOptions([]).compareWith).toBeNull();
});
