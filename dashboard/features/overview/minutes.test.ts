import { expect, test } from 'vitest';
import type { MinuteRow } from '../../../daemon/contract/system.ts';
import { axisMax, hourSummary, isFullHour, seriesOf } from './minutes.ts';

const row = (minute: number, requests: number, ttft_ms: number | null, failed = 0): MinuteRow => ({
  at: minute * 60_000,
  requests,
  failed,
  refused: 0,
  completion_tokens: 0,
  ttft_ms,
});
const HOUR = [row(10, 2, 120), row(11, 0, null), row(12, 5, 80, 1)];

test('an idle minute has zero requests and no wait time', () => {
  expect(seriesOf(HOUR, ({ requests }) => requests)).toEqual({ times: [600, 660, 720], values: [2, 0, 5] });
  expect(seriesOf(HOUR, ({ ttft_ms }) => ttft_ms).values).toEqual([120, null, 80]);
});

test('the description of the hour', () => {
  const words = { requests: 7, failed: 1, refused: 0, peak: 5, wait: { low: 80, high: 120 } };
  expect(hourSummary(HOUR)).toEqual(words);
  expect(hourSummary([])).toEqual({ requests: 0, failed: 0, refused: 0, peak: 0, wait: null });
});

test.each([
  [0, 2],
  [3, 4],
  [4, 4],
  [17, 18],
  [99, 100],
  [104, 120],
  [1234, 1400],
])('a scale up to %d ends at %d', (peak, top) => expect(axisMax(peak)).toBe(top));

test('an hour is complete when it has all its minutes', () => {
  const minutes = Array.from({ length: 60 }, (_, minute) => row(minute, 0, null));
  expect([HOUR, minutes].map(isFullHour)).toEqual([false, true]);
});
