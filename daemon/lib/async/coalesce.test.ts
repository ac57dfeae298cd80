import { expect, it } from 'vitest';
import { coalesce } from './coalesce.ts';

it('runs at once, and once more for all calls in the same tick', async () => {
  let [value, runs] = [0, 0];
  const values: number[] = [];
  const run = coalesce(() => {
    runs += 1;
    values.push(value);
  });
  for (value = 1; value < 1_000; value++) run();
  expect(values).toEqual([1]);
  await null;
  expect(values).toEqual([1, 1_000]);
  await null;
  run();
  expect(runs).toBe(3);
  await null;
  expect(runs).toBe(3);
});

it('a run that throws does not block later runs', async () => {
  let fails = true;
  let runs = 0;
  const run = coalesce(() => {
    runs += 1;
    if (fails) throw new Error('once');
  });
  expect(run).toThrow('once');
  fails = false;
  await null;
  run();
  expect(runs).toBe(2);
});
