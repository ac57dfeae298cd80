import { expect, test } from 'vitest';
import { beginWork, isWorking } from './under-way.ts';

test('is busy until all work has ended, and counts each end once', () => {
  expect(isWorking()).toBe(false);
  const [first, second] = [beginWork(), beginWork()];
  first();
  first();
  expect(isWorking()).toBe(true);
  second();
  expect(isWorking()).toBe(false);
});
