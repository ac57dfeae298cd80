import { expect, test } from 'vitest';
import { headroomOf } from './memory-headroom.ts';

const sum = { pool: 'host', needed: 9, short: 0, victims: [] };

test.each([
  ['free memory, less reservations', { free: 10, reserved: 2, limit: null, held: 4 }, 7, false],
  ['never less than nothing', { free: 1, reserved: 2, limit: null, held: 0 }, 0, false],
  ['the limit, less what slots hold', { free: 100, reserved: 0, limit: 10, held: 4 }, 6, true],
  ['nothing once slots hold more than the limit', { free: 100, reserved: 0, limit: 3, held: 4 }, 0, true],
  ['a limit above the free memory has no effect', { free: 10, reserved: 0, limit: 50, held: 0 }, 9, false],
])('%s', (_, over, bytes, isLimitedBySetting) => {
  expect(headroomOf({ ...sum, kept_free: 1, ...over })).toEqual({ bytes, isLimitedBySetting });
});
