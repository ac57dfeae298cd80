import { expect, it } from 'vitest';
import { MAX_MODELS, ModelBreakers } from './model-breakers.ts';

function bench() {
  const clock = { now: 1000 };
  return { clock, breakers: new ModelBreakers(() => clock.now) };
}

it('holds a bounded number of models, and drops the one that failed least recently', () => {
  const { breakers } = bench();
  const fail = (model: string) => breakers.obtain(model).recordFailure('badStatus', null);
  for (let count = 0; count < MAX_MODELS; count++) fail(`m${count}`);
  fail('m0');
  fail('new');
  expect(breakers.failing.size).toBe(MAX_MODELS);
  expect([breakers.failing.has('m0'), breakers.failing.has('m1')]).toEqual([true, false]);
});

it('a small request clears single failures, but no pause before its trial is due', () => {
  const { breakers, clock } = bench();
  breakers.obtain('once').recordFailure('badStatus', null);
  for (let count = 0; count < 5; count++)
    breakers.obtain('bad').recordFailure('badStatus', null, { cause: 'It answered with status 502.' });
  breakers.recordReachable();
  expect([...breakers.failing]).toEqual(['bad']);
  expect([breakers.get('bad')?.isOpen, breakers.cause]).toEqual([true, 'It answered with status 502.']);
  clock.now += 5000;
  breakers.recordReachable();
  expect(breakers.get('bad')?.isOpen).toBe(false);
  breakers.recordReachable();
  expect([breakers.failing.size, breakers.cause]).toEqual([0, null]);
});

it('a success removes the state of its model only', () => {
  const { breakers } = bench();
  for (const model of ['a', 'b']) breakers.obtain(model).recordFailure('badStatus', null);
  breakers.recordSuccess('a');
  expect([...breakers.failing]).toEqual(['b']);
});
