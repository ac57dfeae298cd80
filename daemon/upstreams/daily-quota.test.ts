import { expect, it } from 'vitest';
import { DailyQuota } from './daily-quota.ts';

function bench() {
  const clock = { now: Date.UTC(2026, 0, 31, 23, 59, 30) };
  const stored = new Map<string, string>();
  const store = {
    get: (key: string) => stored.get(key) ?? null,
    set: (key: string, value: string) => void stored.set(key, value),
  };
  return { clock, stored, open: () => new DailyQuota(store, () => clock.now) };
}

it('counts by upstream and day, and resets at midnight UTC', () => {
  const { clock, open } = bench();
  const counts = open();
  counts.add('a', 1, true);
  counts.add('a', 1, true);
  counts.add('b', 1, true);
  counts.add('b', -1, true);
  expect([counts.of('a'), counts.of('b'), counts.secondsLeft()]).toEqual([2, 0, 30]);
  clock.now += 30_000;
  expect([counts.of('a'), counts.secondsLeft()]).toEqual([0, 86_400]);
});

it('stored counts survive a restart, but not into the next day', () => {
  const { clock, open } = bench();
  open().add('a', 1, true);
  open().add('b', 1, false);
  expect([open().of('a'), open().of('b')]).toEqual([1, 0]);
  clock.now += 60_000;
  expect(open().of('a')).toBe(0);
});

it.each(['', 'no json', '{"day":5,"counts":{"a":"x"}}', 'null'])('stored text %j is ignored', (text) => {
  const { stored, open } = bench();
  stored.set('upstreams.daily', text);
  expect(open().of('a')).toBe(0);
});
