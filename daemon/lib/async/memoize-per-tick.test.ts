import { expect, it } from 'vitest';
import { memoizePerTick } from './memoize-per-tick.ts';

it('reads once per tick, and again in the next tick', async () => {
  let reads = 0;
  const read = memoizePerTick(() => ++reads);
  expect([read(), read(), read()]).toEqual([1, 1, 1]);
  await null;
  expect([read(), read()]).toEqual([2, 2]);
});

it('retries a failed read at once', () => {
  let reads = 0;
  const read = memoizePerTick(() => {
    reads += 1;
    if (reads === 1) throw new Error('once');
    return reads;
  });
  expect(read).toThrow('once');
  expect(read()).toBe(2);
});
