import { expect, test } from 'vitest';
import {
  brokenGate,
  gateReport,
  isWithin,
  joinedReport,
  type MeasuredRatios,
  skippedGate,
  slowdownReport,
} from './gate-verdict.ts';

const measured = (ratios: number[], more: Partial<MeasuredRatios> = {}): MeasuredRatios => ({
  ...{ name: 'small chat', ratios, failedRequests: 0, scenario: 'chat c=16' },
  ...more,
});
const recorded = new Map([
  ['small chat', 2],
  ['4 MB chat', 1],
]);

test('the median decides: one run over the limit passes, two fail', () => {
  expect(isWithin(measured([1.9, 2.1, 9]), 2)).toBe(true);
  expect(isWithin(measured([1.9, 2.7, 2.8]), 2)).toBe(false);
});

test('after further runs the last three decide', () => {
  expect(isWithin(measured([4, 3, 2.1, 2.2, 2.3]), 2)).toBe(true);
  expect(isWithin(measured([1, 1, 2.7, 2.8, 2.9]), 2)).toBe(false);
});

test('1.3 times the recorded ratio fails, less passes', () => {
  expect(isWithin(measured([2.59]), 2)).toBe(true);
  expect(isWithin(measured([2.6]), 2)).toBe(false);
  expect(isWithin(measured([0.1]), 2)).toBe(true);
});

test('a run without a ratio is not within the limit', () => {
  expect(isWithin(measured([1, Number.NaN, 1]), 2)).toBe(false);
  expect(isWithin(measured([]), 2)).toBe(false);
});

test('a report counts measures; a failure has each run, the median, the recorded ratio, the limit and the next step', () => {
  const report = gateReport([measured([3, 2.7, 3.5]), measured([1.1], { name: '4 MB chat' })], recorded);
  expect(report).toMatchObject({ passed: 1, failed: 1, skipped: 0 });
  const [failure] = report.failures;
  expect(failure?.name).toBe('gate: small chat');
  for (const part of [
    'is 3.00 times that of the reference proxy (median of the last 3 runs of 3.00, 2.70, 3.50)',
    'Recorded: 2.00, limit: 2.60 (1.3 times)',
    "--prof --only 'chat c=16'",
    '--gate --record',
    'docs/internals/performance.md',
  ])
    expect(failure?.text).toContain(part);
});

test('a gateway slowed down on purpose has to exceed the limit', () => {
  expect(slowdownReport(1, 1.6)).toMatchObject({ passed: 1, failed: 0 });
  for (const slowed of [1.29, 1, 0, Number.NaN]) {
    const report = slowdownReport(1, slowed);
    expect(report).toMatchObject({ passed: 0, failed: 1 });
    expect(report.failures[0]?.text).toContain('after 1.00');
  }
  expect(slowdownReport(Number.NaN, 1.6).failed).toBe(1);
});

test('joined reports have the counts and failures of both', () => {
  const both = joinedReport(gateReport([measured([3])], recorded), slowdownReport(1, 1));
  expect(both).toMatchObject({ passed: 0, failed: 2, skipped: 0 });
  expect(both.failures.map(({ name }) => name)).toEqual(['gate: small chat', 'gate: a slowed gateway']);
});

test('failed requests fail a measure at any cost', () => {
  const report = gateReport([measured([1], { failedRequests: 3 })], recorded);
  expect(report.failed).toBe(1);
  expect(report.failures[0]?.text).toContain('3 requests failed');
});

test('a gate that cannot measure is one skipped test; a gate that ends with an error is one failure', () => {
  expect(skippedGate()).toEqual({ passed: 0, failed: 0, skipped: 1, failures: [] });
  const broken = brokenGate(new Error('no port'));
  expect(broken.failed).toBe(1);
  expect(broken.failures[0]?.text).toContain('no port');
});
