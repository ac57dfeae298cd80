import { expect, test } from 'vitest';
import { OverheadTimer } from './overhead-timer.ts';

function setUp() {
  const clock = { ms: 100 };
  const own = new OverheadTimer(90, () => clock.ms);
  const pass = (ms: number) => {
    clock.ms += ms;
  };
  return { own, pass };
}

test('runs from the start and pauses during waits', () => {
  const { own, pass } = setUp();
  expect(own.ms).toBe(10);
  own.pause();
  pass(1000);
  own.pause();
  expect(own.ms).toBe(10);
  own.resume();
  pass(5);
  own.resume();
  pass(2);
  expect(own.ms).toBe(17);
});

test('failed waits count as waits', async () => {
  const { own, pass } = setUp();
  const wait = (async () => {
    await Promise.resolve();
    pass(1000);
    throw new Error('gone');
  })();
  await expect(own.excluding(wait)).rejects.toThrow('gone');
  pass(3);
  expect(own.ms).toBe(13);
});
