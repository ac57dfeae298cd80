import { expect, test } from 'vitest';
import { OverheadTimer } from './overhead-timer.ts';

function setUp() {
  const clock = { ms: 100 };
  const timer = new OverheadTimer(90, () => clock.ms);
  const pass = (ms: number) => {
    clock.ms += ms;
  };
  return { timer, pass };
}

test('runs from the start and pauses during waits', () => {
  const { timer, pass } = setUp();
  expect(timer.ms).toBe(10);
  timer.pause();
  pass(1000);
  timer.pause();
  expect(timer.ms).toBe(10);
  timer.resume();
  pass(5);
  timer.resume();
  pass(2);
  expect(timer.ms).toBe(17);
});

test('failed waits count as waits', async () => {
  const { timer, pass } = setUp();
  const wait = (async () => {
    await Promise.resolve();
    pass(1000);
    throw new Error('disconnected');
  })();
  await expect(timer.excluding(wait)).rejects.toThrow('disconnected');
  pass(3);
  expect(timer.ms).toBe(13);
});
