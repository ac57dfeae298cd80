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
  ['where figures have to settle, before others leave', idle, settles, 'b'],
  ['where only idle ones leave', busy, idle, 'b'],
  ['where it waits, before it is refused', refused, busy, 'b'],
  ['the first of those that are alike', starts, starts, 'a'],
  ['the first where none holds it', refused, refused, 'a'],
])('a load goes %s', (_, a, b, pool) => expect(chosen(a, b)).toBe(pool));

test('a load for which others leave already stays there, unless it starts elsewhere or would be refused', () => {
  expect(chosen(busy, idle, 'a')).toBe('a');
  expect(chosen(busy, starts, 'a')).toBe('b');
  expect(chosen(refused, idle, 'a')).toBe('b');
});
