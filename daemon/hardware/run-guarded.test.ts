import { expect, test } from 'vitest';
import { type ProbeProblem, runGuarded } from './run-guarded.ts';

test('returns a result', async () => {
  const problems: ProbeProblem[] = [];
  expect(await runGuarded('one', 1000, async () => 7, 0, problems)).toBe(7);
  expect(problems).toEqual([]);
});

test('a failure, synchronous or not, becomes a line and the fallback', async () => {
  const problems: ProbeProblem[] = [];
  const now = () => {
    throw new Error('no such bus');
  };
  expect(await runGuarded('one', 1000, now, 0, problems)).toBe(0);
  expect(await runGuarded('two', 1000, () => Promise.reject('odd'), 0, problems)).toBe(0);
  expect(problems).toEqual([
    { probe: 'one', reason: 'no such bus' },
    { probe: 'two', reason: 'odd' },
  ]);
});

test('a probe that never ends times out', async () => {
  const problems: ProbeProblem[] = [];
  expect(await runGuarded('slow', 20, () => new Promise<number>(() => {}), -1, problems)).toBe(-1);
  expect(problems).toEqual([{ probe: 'slow', reason: 'no answer within 0.02 s' }]);
});
