import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { RecentlyFreed } from './recently-freed.ts';

it('keeps the bytes that a pool got back until its readings are new', async () => {
  const clock = new ManualClock();
  const departures = new RecentlyFreed(clock);
  departures.add('card', 5);
  await clock.advance(3_000);
  departures.add('card', 7);
  departures.add('other', 1);
  expect([departures.bytes('card'), departures.bytes('other')]).toEqual([12, 1]);
  await clock.advance(3_000);
  expect(departures.bytes('card')).toBe(7);
  await clock.advance(3_000);
  expect(departures.bytes('card')).toBe(0);
});
