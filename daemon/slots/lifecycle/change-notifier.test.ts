import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { ChangeNotifier } from './change-notifier.ts';

it('tells each name once per gathering time, with the last state', async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const announcer = new ChangeNotifier(clock, (names) => told.push(...names));
  for (let i = 0; i < 1_000; i++) announcer.changed('agent');
  announcer.changed('embed');
  expect(told).toEqual([]);
  await clock.advance(100);
  expect(told).toEqual(['agent', 'embed']);
  await clock.advance(1_000);
  expect(told).toHaveLength(2);
  announcer.changed('agent');
  announcer.flush();
  await clock.advance(1_000);
  expect(told).toEqual(['agent', 'embed', 'agent']);
});
