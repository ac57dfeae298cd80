import { expect, test } from 'vitest';
import { beginWork, isWorking } from './under-way.ts';

test('something is under way until the last of it has ended, and an end counts once', () => {
  expect(isWorking()).toBe(false);
  const [first, second] = [beginWork(), beginWork()];
  first();
  first();
  expect(isWorking()).toBe(true);
  second();
  expect(isWorking()).toBe(false);
});
