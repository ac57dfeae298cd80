import { expect, test } from 'vitest';
import { comparedMeasures, pairRatios } from './compare-builds.ts';
import { parseOptions } from './options.ts';

test('each process of one build is compared with each process of the other', () => {
  expect(pairRatios([90, 110], [100, 200])).toEqual([0.9, 0.45, 1.1, 0.55]);
  expect(pairRatios([], [100])).toEqual([]);
});

test('--against names the commit to compare with', () => {
  expect(parseOptions(['--against', 'HEAD~1']).compareWith).toBe('HEAD~1');
  expect(parseOptions([]).compareWith).toBeNull();
});

test('small chats are compared unless measures are named', () => {
  const names = (only: readonly string[]) => comparedMeasures(only).map(({ name }) => name);
  expect(names([])).toEqual(['small chat']);
  expect(names(['4 MB', 'stream'])).toEqual(['4 MB chat', 'stream of 50 tokens']);
  expect(() => names(['embed'])).toThrow('--against compares 4 MB chat, 64 KB chat');
});
