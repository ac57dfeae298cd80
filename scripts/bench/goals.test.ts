import { expect, test } from 'vitest';
import { GOALS, verdicts } from './goals.ts';
import type { Results } from './rounds.ts';
import { SCENARIOS } from './scenarios.ts';

const chat = (ours: number, nginx: number): Results => ({
  'chat c=16': { nginx: { cpu_us_req: [nginx] }, ours: { cpu_us_req: [ours] } },
});
const about = (results: Results, what: string, to?: string) =>
  verdicts(results).find(({ goal }) => goal.what === what && goal.to === to);

test('a ratio at the limit is met, above it is missed', () => {
  expect(about(chat(60, 10), 'CPU per small chat')).toMatchObject({ value: 6, verdict: 'met' });
  expect(about(chat(61, 10), 'CPU per small chat')?.verdict).toBe('MISSED');
});

test('without its reference a ratio is unknown, never met', () => {
  const alone: Results = { 'chat c=16': { ours: { cpu_us_req: [40] } } };
  expect(about(alone, 'CPU per small chat')?.verdict).toBe('unknown');
  expect(about(chat(40, 10), 'CPU per small chat', 'llama-swap')?.verdict).toBe('unknown');
});

test('a gateway without a figure or with a failed request misses its goals', () => {
  const withoutFigure: Results = { 'chat c=16': { nginx: { cpu_us_req: [10] } } };
  expect(about(withoutFigure, 'CPU per small chat')?.verdict).toBe('MISSED');
  const failing: Results = {
    'chat c=16': { nginx: { cpu_us_req: [10, 10] }, ours: { cpu_us_req: [20, 20], bad: [0, 3] } },
  };
  expect(about(failing, 'CPU per small chat')).toMatchObject({ verdict: 'MISSED', failed: 3 });
});

test('a difference is in the unit of its figure; other scenarios have no verdict', () => {
  const stream: Results = { 'sse x64': { nginx: { ttft50_ms: [0.2] }, ours: { ttft50_ms: [0.6] } } };
  expect(about(stream, 'first token, ms')?.value).toBeCloseTo(0.4);
  expect(about(stream, 'first token, ms')?.verdict).toBe('met');
  expect(verdicts({})).toEqual([]);
});

test('the worst round decides about a guarantee', () => {
  const abort = (counts: number[]): Results => ({
    abort: { ours: { aborted_of_16: counts, after_ms: [5, 5] } },
  });
  expect(about(abort([16, 16]), 'aborts detected, of 16')?.verdict).toBe('met');
  expect(about(abort([16, 15]), 'aborts detected, of 16')).toMatchObject({ value: 15, verdict: 'MISSED' });
  const streams: Results = { 'sse x1000': { ours: { bad: [0, 1], over_idle_mb: [1, 1] } } };
  expect(about(streams, 'failed of 1000 streams')?.verdict).toBe('MISSED');
});

test('every goal has a scenario', () => {
  for (const { what, scenario } of GOALS) expect(SCENARIOS, what).toHaveProperty([scenario]);
});
