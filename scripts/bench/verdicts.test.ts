import { expect, test } from 'vitest';
import { GOALS } from './goals.ts';
import type { Results } from './rounds.ts';
import { verdicts } from './verdicts.ts';

const chat = (ours: number, nginx: number): Results => ({
  'chat c=16': { nginx: { cpu_us_req: [nginx] }, ours: { cpu_us_req: [ours] } },
});
const about = (results: Results, start: string) =>
  verdicts(results).find(({ what }) => what.startsWith(start));

test('a ratio within the goal, within the floor, and beyond it', () => {
  expect(about(chat(40, 10), 'CPU per small chat')).toMatchObject({ value: 4, verdict: 'goal' });
  expect(about(chat(60, 10), 'CPU per small chat')?.verdict).toBe('floor');
  expect(about(chat(61, 10), 'CPU per small chat')?.verdict).toBe('MISSED');
});

test('without nginx a ratio is unknown, never met', () => {
  const alone: Results = { 'chat c=16': { ours: { cpu_us_req: [40] } } };
  expect(about(alone, 'CPU per small chat')?.verdict).toBe('unknown');
});

test('a gateway without a figure or with a failed request misses its floor', () => {
  const withoutFigure: Results = { 'chat c=16': { nginx: { cpu_us_req: [10] } } };
  expect(about(withoutFigure, 'CPU per small chat')?.verdict).toBe('MISSED');
  const failing: Results = {
    'chat c=16': { nginx: { cpu_us_req: [10, 10] }, ours: { cpu_us_req: [20, 20], bad: [0, 3] } },
  };
  expect(about(failing, 'CPU per small chat')).toMatchObject({ verdict: 'MISSED', failed: 3 });
});

test('only measured scenarios have verdicts; differences are in the unit of the figure', () => {
  const stream: Results = { 'sse x64 20ms': { nginx: { ttft50_ms: [0.2] }, ours: { ttft50_ms: [0.6] } } };
  expect(about(stream, 'first token')?.value).toBeCloseTo(0.4);
  expect(about(stream, 'first token')?.verdict).toBe('goal');
  expect(verdicts({})).toEqual([]);
});

test('the worst round decides about a guarantee', () => {
  const abort = (counts: number[]): Results => ({
    abort: { ours: { aborted_of_16: counts, after_ms: [5, 5] } },
  });
  expect(about(abort([16, 16]), 'aborts detected, of 16')?.verdict).toBe('goal');
  expect(about(abort([16, 15]), 'aborts detected, of 16')).toMatchObject({ value: 15, verdict: 'MISSED' });
});

test('an engine is compared with llama-server by tokens per second, with the spread over all rounds', () => {
  const engine = (ours: number[]): Results => ({
    'engine x4': { 'llama.cpp': { tok_s: ours.map(() => 100) }, ours: { tok_s: ours } },
  });
  expect(about(engine([101, 90, 120]), 'tokens/s, 4 requests')).toMatchObject({
    value: 1.01,
    spread: { median: 1.01, min: 0.9, max: 1.2 },
    verdict: 'goal',
  });
  expect(about(engine([96]), 'tokens/s, 4 requests')?.verdict).toBe('floor');
  expect(about(engine([94]), 'tokens/s, 4 requests')?.verdict).toBe('MISSED');
});

test('a side load is compared with the same gateway without it', () => {
  const sideLoad: Results = { 'side load c=16': { off: { cpu_us_req: [50] }, events: { cpu_us_req: [56] } } };
  expect(about(sideLoad, 'CPU per chat with events')).toMatchObject({ value: 1.12, verdict: 'MISSED' });
});

test('every goal has a scenario, and no goal is worse than its floor', async () => {
  const { SCENARIOS } = await import('./scenarios.ts');
  for (const { what, scenario, goal, floor, higherIsBetter } of GOALS) {
    expect(SCENARIOS, what).toHaveProperty([scenario]);
    expect(higherIsBetter ? goal >= floor : goal <= floor, what).toBe(true);
  }
});
