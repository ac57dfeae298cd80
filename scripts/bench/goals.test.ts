import { expect, test } from 'vitest';
import { verdicts } from './goals.ts';
import type { Results } from './rounds.ts';

const chat = (ours: number, nginx: number): Results => ({
  'chat c=16': { nginx: { cpu_us_req: [nginx] }, ours: { cpu_us_req: [ours] } },
});

test('a ratio within the goal, within the floor, and beyond it', () => {
  expect(verdicts(chat(40, 10))).toMatchObject([
    { what: 'CPU per small chat, c=16', value: 4, verdict: 'goal' },
  ]);
  expect(verdicts(chat(60, 10))[0]?.verdict).toBe('floor');
  expect(verdicts(chat(61, 10))[0]?.verdict).toBe('MISSED');
});

test('without nginx a ratio is unknown, never met', () => {
  const alone: Results = { 'chat c=16': { ours: { cpu_us_req: [40] } } };
  expect(verdicts(alone)[0]?.verdict).toBe('unknown');
});

test('only what was measured is judged; differences are in the unit of the figure', () => {
  const stream: Results = { 'sse x64 20ms': { nginx: { ttft50_ms: [0.2] }, ours: { ttft50_ms: [0.6] } } };
  const first = verdicts(stream).find(({ what }) => what.startsWith('first token'));
  expect(first?.value).toBeCloseTo(0.4);
  expect(first?.verdict).toBe('goal');
  expect(verdicts({})).toEqual([]);
});

test('an engine is judged beside llama-server by its tokens per second, and the spread of the rounds is told', () => {
  const engine = (ours: number[]): Results => ({
    'engine x4': { 'llama.cpp': { tok_s: ours.map(() => 100) }, ours: { tok_s: ours } },
  });
  expect(verdicts(engine([101, 90, 120]))).toEqual([
    {
      what: 'tokens/s, 4 requests',
      value: 1.01,
      spread: { median: 1.01, min: 0.9, max: 1.2 },
      verdict: 'goal',
    },
  ]);
  expect(verdicts(engine([96]))[0]?.verdict).toBe('floor');
  expect(verdicts(engine([94]))[0]?.verdict).toBe('MISSED');
});
