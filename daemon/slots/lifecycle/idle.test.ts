import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { IdleTimer } from './idle.ts';

it('fires once, after the time without a request', async () => {
  const clock = new ManualClock();
  let fired = 0;
  const idle = new IdleTimer(clock, () => {
    fired += 1;
  });
  idle.start(900);
  await clock.advance(899_999);
  expect(fired).toBe(0);
  await clock.advance(1);
  await clock.advance(10_000_000);
  expect(fired).toBe(1);
});

it('a request restarts the time, and 0 means never', async () => {
  const clock = new ManualClock();
  let fired = 0;
  const idle = new IdleTimer(clock, () => {
    fired += 1;
  });
  idle.start(900);
  await clock.advance(800_000);
  idle.stop();
  await clock.advance(800_000);
  idle.start(900);
  await clock.advance(800_000);
  idle.start(0);
  await clock.advance(10_000_000);
  expect(fired).toBe(0);
});
