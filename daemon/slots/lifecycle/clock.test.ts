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

test('M01 it is the wall clock while nobody sets that', () => {
  const { time, now, pass } = clocks();
  for (const ms of [0, 1, 20_000, 86_400_000]) {
    pass(ms);
    expect(now()).toBe(time.wall);
  }
});

test('M01 a clock that is set back goes on evenly: what is due in a second is due in a second', () => {
  const { time, now, pass } = clocks();
  const due = now() + 1_000;
  time.wall -= YEARS;
  expect(now()).toBe(due - 1_000);
  pass(999);
  expect(now()).toBe(due - 1);
  pass(1);
  expect(now()).toBe(due);
});

test('M01 a clock that is set ahead, or a machine that slept, is followed', () => {
  const { time, now, pass } = clocks();
  time.wall += YEARS;
  expect(now()).toBe(time.wall);
  pass(50);
  expect(now()).toBe(time.wall);
});

test('M01 after a jump there and back nothing goes back, and readings at one moment agree', () => {
  const { time, now, pass } = clocks();
  time.wall += YEARS;
  const far = now();
  time.wall -= YEARS;
  expect([now(), now()]).toEqual([far, far]);
  pass(10);
  expect(now()).toBe(far + 10);
});

const DAY_MS = 86_400_000;

test('a time beyond what one timer of Node can take is waited for whole', () => {
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

test('a long time is cancelled in any of its parts', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const act = vi.fn();
  const cancel = systemClock.after(60 * DAY_MS, act);
  vi.advanceTimersByTime(50 * DAY_MS);
  cancel();
  vi.advanceTimersByTime(50 * DAY_MS);
  expect(act).not.toHaveBeenCalled();
});
