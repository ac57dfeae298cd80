import { expect, test } from 'vitest';
import { cpuTimer } from '../testing/cpu-time.ts';
import { runSyncWithTimeout, TimeLimitError } from './run-with-timeout.ts';

test('returns the result and rethrows the error of the work', () => {
  const value = { a: 1 };
  expect(runSyncWithTimeout(() => value, 1000)).toBe(value);
  const failure = new RangeError('mine');
  expect(() =>
    runSyncWithTimeout(() => {
      throw failure;
    }, 1000),
  ).toThrow(failure);
  expect(() =>
    runSyncWithTimeout(() => {
      throw null;
    }, 1000),
  ).toThrow();
});

test('an endless loop ends at the limit, and later work runs', () => {
  const cpuMs = cpuTimer();
  let turns = 0;
  expect(() =>
    runSyncWithTimeout(() => {
      for (;;) turns++;
    }, 50),
  ).toThrow(TimeLimitError);
  expect(cpuMs()).toBeLessThan(5000);
  expect(turns).toBeGreaterThan(0);
  expect(runSyncWithTimeout(() => 2, 1000)).toBe(2);
});

test('nested calls', () => {
  expect(
    runSyncWithTimeout(() => runSyncWithTimeout(() => 1, 1000) + runSyncWithTimeout(() => 2, 1000), 1000),
  ).toBe(3);
});
