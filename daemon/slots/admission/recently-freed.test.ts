import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { Departures } from './recently-freed.ts';

it('remembers what a pool got back until its figures are new', async () => {
  const clock = new ManualClock();
  const departures = new Departures(clock);
  departures.note('card', 5);
  await clock.advance(3_000);
  departures.note('card', 7);
  departures.note('other', 1);
  expect([departures.bytes('card'), departures.bytes('other')]).toEqual([12, 1]);
  await clock.advance(3_000);
  expect(departures.bytes('card')).toBe(7);
  await clock.advance(3_000);
  expect(departures.bytes('card')).toBe(0);
});
