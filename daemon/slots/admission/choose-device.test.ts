import { expect, test } from 'vitest';
import { sumOf } from '../testing/memory.ts';
import { chooseDevice } from './choose-device.ts';
import type { LoadDecision } from './eviction.ts';

const sum = sumOf({});
const starts: LoadDecision = { kind: 'start', sum };
const refused: LoadDecision = { kind: 'refuse', sum };
const waits = (who: string[], evict: string[]): LoadDecision => ({
  kind: 'wait',
  sum,
  for: who,
  evict,
  wakeAt: null,
});
const settles = waits([], []);
const idle = waits(['idle'], ['idle']);
const busy = waits(['busy'], []);

const chosen = (a: LoadDecision, b: LoadDecision, waitsFor: string | null = null): string => {
  const decisions: Readonly<Record<string, LoadDecision>> = { a, b };
  return chooseDevice([{ pool: 'a' }, { pool: 'b' }], ({ pool }) => decisions[pool] as LoadDecision, waitsFor)
    .pool;
};

test.each([
  ['where it starts', idle, starts, 'b'],
  ['where it waits for newer figures, rather than evict another slot', idle, settles, 'b'],
  ['where only idle slots are evicted', busy, idle, 'b'],
  ['where it waits, rather than be refused', refused, busy, 'b'],
  ['on the first of equal devices', starts, starts, 'a'],
  ['on the first device when none can hold it', refused, refused, 'a'],
])('a load is placed %s', (_, a, b, pool) => expect(chosen(a, b)).toBe(pool));

test('a load for which slots are being evicted stays with its pool, unless it starts elsewhere or would be refused', () => {
  expect(chosen(busy, idle, 'a')).toBe('a');
  expect(chosen(busy, starts, 'a')).toBe('b');
  expect(chosen(refused, idle, 'a')).toBe('b');
});
