import { expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

it('writes whole milliseconds as Date does, in any order', () => {
  const times = [
    0, 1, 999, 1000, -1, 1_700_000_000_007, 1_700_000_000_070, 1_700_000_000_700, 951_782_399_999,
  ];
  for (const ms of [...times, ...times.toReversed()]) expect(isoTime(ms)).toBe(new Date(ms).toISOString());
});
