import { expect, test } from 'vitest';
import { aRequest, memoryDb } from './testing.ts';
import { usageKey, usageRepo } from './usage.ts';

test('sums by day, tier and model', () => {
  const { db, faults } = memoryDb();
  const { repo, count } = usageRepo(db, faults);
  count([aRequest(), aRequest({ prompt_tokens: null, completion_tokens: 10 })]);
  count([aRequest({ tier: 'admin' }), aRequest({ at: '2030-01-01T23:59:59.999Z' })]);
  expect(repo.since('2030-01-02')).toEqual([
    { day: '2030-01-02', tier: 'admin', model: 'demo', requests: 1, prompt_tokens: 7, completion_tokens: 5 },
    {
      day: '2030-01-02',
      tier: 'client',
      model: 'demo',
      requests: 2,
      prompt_tokens: 7,
      completion_tokens: 15,
    },
  ]);
  expect(repo.since('2030-01-01')).toHaveLength(3);
  count([aRequest({ tier: 'admin' })]);
  expect(repo.since('2030-01-02')[0]?.requests).toBe(2);
});

test('the model of a refused request is free text and is not counted by name', () => {
  expect(usageKey(aRequest({ status: 404, model: 'guess 1' }))).toEqual(['2030-01-02', 'client', '']);
  expect(usageKey(aRequest({ status: null }))[2]).toBe('');
  expect(usageKey(aRequest())[2]).toBe('demo');
});
