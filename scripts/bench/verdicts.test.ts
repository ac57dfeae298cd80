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

test('a gateway that gave no figure, or failed a request, has missed its floor', () => {
  const silent: Results = { 'chat c=16': { nginx: { cpu_us_req: [10] } } };
  expect(about(silent, 'CPU per small chat')?.verdict).toBe('MISSED');
  const failing: Results = {
    'chat c=16': { nginx: { cpu_us_req: [10, 10] }, ours: { cpu_us_req: [20, 20], bad: [0, 3] } },
  };
  expect(about(failing, 'CPU per small chat')).toMatchObject({ verdict: 'MISSED', failed: 3 });
});

test('only what was measured is judged; differences are in the unit of the figure', () => {
  const stream: Results = { 'sse x64 20ms': { nginx: { ttft50_ms: [0.2] }, ours: { ttft50_ms: [0.6] } } };
  expect(about(stream, 'first token')?.value).toBeCloseTo(0.4);
  expect(about(stream, 'first token')?.verdict).toBe('goal');
  expect(verdicts({})).toEqual([]);
});

test('what must hold always is judged by its worst round', () => {
  const abort = (seen: number[]): Results => ({ abort: { ours: { aborted_of_16: seen, after_ms: [5, 5] } } });
  expect(about(abort([16, 16]), 'abort seen, of 16')?.verdict).toBe('goal');
  expect(about(abort([16, 15]), 'abort seen, of 16')).toMatchObject({ value: 15, verdict: 'MISSED' });
});

test('an engine is judged beside llama-server by its tokens per second, and the spread of the rounds is told', () => {
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

test('what goes on beside the path is judged against the same gateway without it', () => {
  const sideLoad: Results = { 'side load c=16': { off: { cpu_us_req: [50] }, events: { cpu_us_req: [56] } } };
  expect(about(sideLoad, 'CPU per chat with events')).toMatchObject({ value: 1.12, verdict: 'MISSED' });
});

test('every goal has a scenario, and no goal lies beyond its floor', async () => {
  const { SCENARIOS } = await import('./scenarios.ts');
  for (const { what, scenario, goal, floor, least } of GOALS) {
    expect(SCENARIOS, what).toHaveProperty([scenario]);
    expect(least ? goal >= floor : goal <= floor, what).toBe(true);
  }
});
