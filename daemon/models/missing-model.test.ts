import { expect, test } from 'vitest';
import { absenceOf, isPermanent, recordMiss } from './missing-model.ts';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 0, 31, 12);

test('several searches on one day count once', () => {
  const first = recordMiss(null, NOON);
  expect(first).toEqual({ days: 1, day: '2026-01-31' });
  expect(recordMiss(first, NOON + 1000)).toBe(first);
  expect(recordMiss(first, NOON + DAY_MS)).toEqual({ days: 2, day: '2026-02-01' });
});

test('a clock that jumps from 1970 counts as one day', () => {
  expect(recordMiss(recordMiss(null, 0), NOON)).toEqual({ days: 2, day: '2026-01-31' });
});

test('keeps a missing model for ninety days and no longer', () => {
  let absence = recordMiss(null, NOON);
  for (let day = 1; day < 90; day += 1) absence = recordMiss(absence, NOON + day * DAY_MS);
  expect(isPermanent(absence)).toBe(false);
  expect(isPermanent(recordMiss(absence, NOON + 90 * DAY_MS))).toBe(true);
});

test.each([[{}], [{ absence: null }], [{ absence: 'x' }], [{ absence: { days: '1', day: 'x' } }]])(
  'a row with %j has no absence',
  (header) => {
    expect(absenceOf({ header })).toBeNull();
  },
);
