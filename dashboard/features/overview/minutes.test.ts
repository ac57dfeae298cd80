import { expect, test } from 'vitest';
import type { MinuteRow } from '../../../daemon/contract/system.ts';
import { hourWords, isWhole, seriesOf } from './minutes.ts';

const row = (minute: number, requests: number, ttft_ms: number | null, failed = 0): MinuteRow => ({
  at: minute * 60_000,
  requests,
  failed,
  completion_tokens: 0,
  ttft_ms,
});
const HOUR = [row(10, 2, 120), row(11, 0, null), row(12, 5, 80, 1)];

test('a quiet minute has requests, none, and no wait', () => {
  expect(seriesOf(HOUR, ({ requests }) => requests)).toEqual({ times: [600, 660, 720], values: [2, 0, 5] });
  expect(seriesOf(HOUR, ({ ttft_ms }) => ttft_ms).values).toEqual([120, null, 80]);
});

test('the hour in words', () => {
  const words = { requests: 7, failed: 1, most: 5, wait: { low: 80, high: 120 }, known: 3 };
  expect(hourWords(HOUR)).toEqual(words);
  expect(hourWords([])).toEqual({ requests: 0, failed: 0, most: 0, wait: null, known: 0 });
});

test.each([
  [[], 0, false],
  [HOUR, 12 * 60_000, false],
  [HOUR, 69 * 60_000, true],
])('%#: an hour is whole once it is over', (minutes, now, whole) =>
  expect(isWhole(minutes, now)).toBe(whole),
);
