import { expect, test } from 'vitest';
import { verdicts } from './goals.ts';
import type { Results } from './rounds.ts';

const chat = (ours: number, nginx: number): Results => ({
  'chat c=16': { nginx: { cpu_us_req: [nginx] }, ours: { cpu_us_req: [ours] } },
});

test('a ratio within the goal, within the floor, and beyond it', () => {
  expect(verdicts(chat(40, 10))).toEqual([{ what: 'CPU per small chat, c=16', value: 4, verdict: 'goal' }]);
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

test('an engine is judged beside llama-server', () => {
  const engine = (ours: number): Results => ({
    'engine x1': { 'llama.cpp': { ms_tok: [10] }, ours: { ms_tok: [ours] } },
  });
  expect(verdicts(engine(9.8))).toMatchObject([{ what: 'time per token, 1 request', verdict: 'goal' }]);
  expect(verdicts(engine(10.4))[0]?.verdict).toBe('floor');
  expect(verdicts(engine(11))[0]?.verdict).toBe('MISSED');
});
