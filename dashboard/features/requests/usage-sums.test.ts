import { expect, it } from 'vitest';
import { sumsBy, totalOf } from './usage-sums.ts';

const row = (day: string, tier: string, model: string, tokens: number) => ({
  day,
  tier,
  model,
  requests: 1,
  prompt_tokens: tokens,
  completion_tokens: 2 * tokens,
  uncounted: tier === 'anon' ? 1 : 0,
});
const ROWS = [
  row('2026-01-01', 'client', 'small', 1),
  row('2026-01-02', 'client', 'large', 100),
  row('2026-01-02', 'anon', 'small', 2),
];

it('sums by day from the newest, by model from the largest', () => {
  expect(sumsBy('day', ROWS).map(({ name, requests }) => [name, requests])).toEqual([
    ['2026-01-02', 2],
    ['2026-01-01', 1],
  ]);
  expect(sumsBy('model', ROWS)).toEqual([
    { name: 'large', requests: 1, prompt: 100, completion: 200, uncounted: 0 },
    { name: 'small', requests: 2, prompt: 3, completion: 6, uncounted: 1 },
  ]);
});

it('every grouping has the same total', () => {
  const totals = (['day', 'tier', 'model'] as const).map((key) => totalOf(sumsBy(key, ROWS)));
  for (const total of totals)
    expect(total).toEqual({ name: '', requests: 3, prompt: 103, completion: 206, uncounted: 1 });
  expect(totalOf([])).toMatchObject({ requests: 0 });
});
