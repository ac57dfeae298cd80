import { expect, test } from 'vitest';
import { cpuTimer } from '../testing/cpu-time.ts';
import { TimeLimitError, withinTime } from './run-with-timeout.ts';

test('the result and the error of the work come through', () => {
  const made = { a: 1 };
  expect(withinTime(() => made, 1000)).toBe(made);
  const failure = new RangeError('mine');
  expect(() =>
    withinTime(() => {
      throw failure;
    }, 1000),
  ).toThrow(failure);
  expect(() =>
    withinTime(() => {
      throw null;
    }, 1000),
  ).toThrow();
});

test('an endless loop ends at the limit, and later work runs', () => {
  const cpuMs = cpuTimer();
  let turns = 0;
  expect(() =>
    withinTime(() => {
      for (;;) turns++;
    }, 50),
  ).toThrow(TimeLimitError);
  expect(cpuMs()).toBeLessThan(5000);
  expect(turns).toBeGreaterThan(0);
  expect(withinTime(() => 2, 1000)).toBe(2);
});

test('work within work', () => {
  expect(withinTime(() => withinTime(() => 1, 1000) + withinTime(() => 2, 1000), 1000)).toBe(3);
});
