import { expect, test } from 'vitest';
import {
  isBeyond,
  nothingMeasured,
  SHORT_GOALS,
  SHORT_SCENARIOS,
  shortReport,
  withoutFailures,
} from './short.ts';
import type { Verdict } from './verdicts.ts';

const verdict = (what: string, word: Verdict['verdict'], more: Partial<Verdict> = {}): Verdict => ({
  ...{ what, scenario: what, value: 10, spread: null, goal: 1, floor: 2, verdict: word, failed: 0 },
  ...more,
});

test('what holds, fails and is unknown is counted; a second try that held is told', () => {
  const judged = [
    verdict('a', 'goal'),
    verdict('b', 'floor'),
    verdict('c', 'MISSED'),
    verdict('d', 'unknown', { value: Number.NaN }),
    verdict('e', 'goal'),
  ];
  const first = [verdict('c', 'MISSED'), verdict('e', 'MISSED', { failed: 3 })];
  expect(shortReport(judged, first)).toEqual({
    passed: 3,
    failed: 1,
    skipped: 1,
    failures: [{ name: 'c', why: '10.00, beyond 1.5 x its floor of 2' }],
    again: [{ name: 'e', why: '3 requests failed' }],
  });
});

test('a scenario is measured again for what it missed only', () => {
  expect(isBeyond([verdict('a', 'MISSED')], 'a')).toBe(true);
  expect(isBeyond([verdict('a', 'floor'), verdict('b', 'MISSED')], 'a')).toBe(false);
});

test('the short version has the path in it, and nothing that needs another gateway or an engine', () => {
  expect(SHORT_GOALS.length).toBeGreaterThan(6);
  expect(SHORT_SCENARIOS).toEqual(['chat c=16', 'chat c=1', 'chat 4MB c=4', 'sse x64 20ms', 'abort']);
});

test('a machine that has too much else to do fails nothing', () => {
  expect(nothingMeasured()).toEqual({
    passed: 0,
    failed: 0,
    skipped: SHORT_GOALS.length,
    failures: [],
    again: [],
  });
  const report = shortReport([verdict('a', 'goal'), verdict('b', 'MISSED')], []);
  expect(withoutFailures(report)).toEqual({ passed: 1, failed: 0, skipped: 1, failures: [], again: [] });
});
