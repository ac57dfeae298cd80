import { expect, test } from 'vitest';
import { aRequest } from './testing/rows.ts';
import { memoryDb } from './testing.ts';
import { usageKey, usageRepo } from './usage.ts';

test('sums by day, tier and model', () => {
  const { db, faults } = memoryDb();
  const { repo, count } = usageRepo(db, faults, () => 100);
  count([aRequest(), aRequest({ prompt_tokens: null, completion_tokens: 10 })]);
  count([aRequest({ tier: 'admin' }), aRequest({ at: '2030-01-01T23:59:59.999Z' })]);
  expect(repo.since('2030-01-02')).toEqual([
    {
      day: '2030-01-02',
      tier: 'admin',
      model: 'demo',
      requests: 1,
      prompt_tokens: 7,
      completion_tokens: 5,
      uncounted: 0,
    },
    {
      day: '2030-01-02',
      tier: 'client',
      model: 'demo',
      requests: 2,
      prompt_tokens: 7,
      completion_tokens: 15,
      uncounted: 1,
    },
  ]);
  expect(repo.since('2030-01-01')).toHaveLength(3);
  count([aRequest({ tier: 'admin' })]);
  expect(repo.since('2030-01-02')[0]?.requests).toBe(2);
  const stopped = { status: 499, prompt_tokens: null, completion_tokens: null };
  count([aRequest(stopped), aRequest({ ...stopped, ttft_ms: null })]);
  count([aRequest(stopped)]);
  expect(repo.since('2030-01-02').find(({ model }) => model === '')).toMatchObject({
    requests: 3,
    uncounted: 2,
  });
});

test('the model of a refused request is free text and is not counted by name', () => {
  expect(usageKey(aRequest({ status: 404, model: 'guess 1' }))).toEqual(['2030-01-02', 'client', '']);
  expect(usageKey(aRequest({ status: null }))[2]).toBe('');
  expect(usageKey(aRequest())[2]).toBe('demo');
});

test('removes sums by age and number, oldest first, and each write applies the current row limit', () => {
  const { db, faults } = memoryDb();
  const limits = { rows: 100 };
  const { repo, count } = usageRepo(db, faults, () => limits.rows);
  const day = (number: number) => `2030-01-${String(number).padStart(2, '0')}`;
  for (let i = 1; i <= 20; i++) count([aRequest({ at: `${day(i)}T12:00:00.000Z` })]);
  const days = () => repo.since('2030-01-01').map((row) => row.day);
  expect(repo.prune({ rows: 1_000, sinceDay: day(6) })).toBe(false);
  expect(days()).toHaveLength(15);
  expect(days().at(-1)).toBe(day(6));
  repo.prune({ rows: 3, sinceDay: null });
  expect(days()).toEqual([day(20), day(19), day(18)]);
  limits.rows = 3;
  count([aRequest({ at: `${day(21)}T12:00:00.000Z` })]);
  expect(days()).toEqual([day(21), day(20), day(19)]);
});
