import { afterEach, expect, test, vi } from 'vitest';
import { monotonicNow, systemClock } from './clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

const YEARS = 10 * 365 * 86_400_000;

function clocks() {
  const time = { wall: 1_900_000_000_000, steady: 5.25 };
  const now = monotonicNow(
    () => time.wall,
    () => time.steady,
  );
  const pass = (ms: number) => {
    time.wall += ms;
    time.steady += ms;
  };
  return { time, now, pass };
}

test('M01 follows the wall clock while it is not set', () => {
  const { time, now, pass } = clocks();
  for (const ms of [0, 1, 20_000, 86_400_000]) {
    pass(ms);
    expect(now()).toBe(time.wall);
  }
});

test('M01 keeps counting when the clock is set back: a timer of one second fires after one second', () => {
  const { time, now, pass } = clocks();
  const due = now() + 1_000;
  time.wall -= YEARS;
  expect(now()).toBe(due - 1_000);
  pass(999);
  expect(now()).toBe(due - 1);
  pass(1);
  expect(now()).toBe(due);
});

test('M01 follows a clock that is set forward and a machine that was suspended', () => {
  const { time, now, pass } = clocks();
  time.wall += YEARS;
  expect(now()).toBe(time.wall);
  pass(50);
  expect(now()).toBe(time.wall);
});

test('M01 never goes back after a jump forward and back, and readings at one moment agree', () => {
  const { time, now, pass } = clocks();
  time.wall += YEARS;
  const far = now();
  time.wall -= YEARS;
  expect([now(), now()]).toEqual([far, far]);
  pass(10);
  expect(now()).toBe(far + 10);
});

const DAY_MS = 86_400_000;

test('a delay beyond the maximum of one Node timer is waited for in full', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let called = 0;
  systemClock.after(60 * DAY_MS, () => {
    called += 1;
  });
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(called).toBe(0);
  vi.advanceTimersByTime(1);
  expect(called).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a long delay can be cancelled in any of its parts', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const act = vi.fn();
  const cancel = systemClock.after(60 * DAY_MS, act);
  vi.advanceTimersByTime(50 * DAY_MS);
  cancel();
  vi.advanceTimersByTime(50 * DAY_MS);
  expect(act).not.toHaveBeenCalled();
});
