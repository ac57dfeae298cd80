import { expect, test } from 'vitest';
import { createMinutes, MINUTES, median } from './minutes.ts';

const MINUTE = 60_000;
const START = 1_800_000_000_000 - (1_800_000_000_000 % MINUTE);

function setUp() {
  let at = START + 5_000;
  const minutes = createMinutes(() => at);
  const ended = (status: number, firstByteS: number | null = 0.2, code: string | null = null) =>
    minutes.finished({ status, inBandCode: code, firstByteS, completionTokens: 3 });
  const go = (ms: number): void => {
    at += ms;
  };
  return { minutes, ended, go };
}

test('idle minutes since the start are zero, earlier ones are absent', () => {
  const { minutes, ended, go } = setUp();
  ended(200);
  go(2 * MINUTE);
  ended(200, 0.4);
  ended(503, null);
  expect(minutes.rows()).toEqual([
    { at: START, requests: 1, failed: 0, refused: 0, completion_tokens: 3, ttft_ms: 200 },
    { at: START + MINUTE, requests: 0, failed: 0, refused: 0, completion_tokens: 0, ttft_ms: null },
    { at: START + 2 * MINUTE, requests: 2, failed: 1, refused: 0, completion_tokens: 6, ttft_ms: 400 },
  ]);
});

test('a stream with an in-band failure counts as failed with any status', () => {
  const { minutes, ended } = setUp();
  ended(200, 0.2, 'upstream.error');
  expect(minutes.rows()).toMatchObject([{ requests: 1, failed: 1 }]);
});

test('refused and disconnected requests are not failures', () => {
  const { minutes, ended } = setUp();
  for (const status of [200, 404, 429, 499, 507]) ended(status);
  expect(minutes.rows()).toMatchObject([{ requests: 5, failed: 1, refused: 2 }]);
});

test('stores at most an hour, for any number of requests', () => {
  const { minutes, ended, go } = setUp();
  for (let minute = 0; minute < 3 * MINUTES; minute += 1) {
    for (let each = 0; each < 3; each += 1) ended(200, minute);
    go(MINUTE);
  }
  const rows = minutes.rows();
  expect(rows).toHaveLength(MINUTES);
  expect(rows[0]).toMatchObject({ at: START + (2 * MINUTES + 1) * MINUTE, requests: 3 });
  expect(rows.at(-1)).toMatchObject({ requests: 0, ttft_ms: null });
});

test('failures have no wait, and a clock that is set back has no effect', () => {
  const { minutes, ended, go } = setUp();
  go(10 * MINUTE);
  ended(500, 9);
  expect(minutes.rows().at(-1)).toMatchObject({ requests: 1, failed: 1, ttft_ms: null });
  go(-20 * MINUTE);
  ended(200, 0.1);
  expect(minutes.rows()).toMatchObject([{ at: START - 10 * MINUTE, requests: 1, ttft_ms: 100 }]);
});

test.each([
  [[], null],
  [[5], 5],
  [[9, 1], 1],
  [[100, 1, 2], 2],
])('the median of %j is %j', (values, middle) => expect(median(values)).toBe(middle));
