import { expect, test } from 'vitest';
import { busyBetween } from './busy.ts';

const stat = (counts: string): string => `cpu  ${counts}\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n`;

test('the share of ticks that were not idle; waiting for a disk is idle, stolen time is not', () => {
  const before = stat('100 0 50 1000 10 0 0 0 0 0');
  expect(busyBetween(before, stat('150 0 75 1060 25 0 0 0 0 0'))).toBe(0.5);
  expect(busyBetween(before, stat('100 0 50 1100 10 0 0 0 0 0'))).toBe(0);
  expect(busyBetween(before, stat('100 0 50 1000 10 0 0 100 0 0'))).toBe(1);
});

test('guest time is in the user time already', () => {
  const before = stat('100 0 0 1000 0 0 0 0 0 0');
  expect(busyBetween(before, stat('150 0 0 1050 0 0 0 0 50 0'))).toBe(0.5);
});

test('a system that tells nothing is not judged', () => {
  expect(busyBetween('', '')).toBeNull();
  expect(busyBetween(stat('1 2 3 4 5 6 7 8'), stat('1 2 3 4 5 6 7 8'))).toBeNull();
});
