import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { MemorySample } from './memory-sample.ts';

it('reads each process at most once in two seconds', async () => {
  const clock = new ManualClock();
  let reads = 0;
  const sample = new MemorySample(clock, (pid) => {
    reads += 1;
    return { resident: pid + reads, anonymous: 0 };
  });
  expect(sample.of(10)?.resident).toBe(11);
  await clock.advance(1_999);
  expect(sample.of(10)?.resident).toBe(11);
  expect(sample.of(20)?.resident).toBe(22);
  await clock.advance(1);
  expect(sample.of(10)?.resident).toBe(13);
});
