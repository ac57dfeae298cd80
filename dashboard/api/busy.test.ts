import { expect, test } from 'vitest';
import { beginWork, isBusy } from './busy.ts';

test('is busy until all work has ended, and counts each end once', () => {
  expect(isBusy()).toBe(false);
  const [first, second] = [beginWork(), beginWork()];
  first();
  first();
  expect(isBusy()).toBe(true);
  second();
  expect(isBusy()).toBe(false);
});
