import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { ChangeNotifier } from './change-notifier.ts';

it('notifies of each name once per debounce time, with the last state', async () => {
  const clock = new ManualClock();
  const notified: string[] = [];
  const notifier = new ChangeNotifier(clock, (names) => notified.push(...names));
  for (let i = 0; i < 1_000; i++) notifier.changed('agent');
  notifier.changed('embed');
  expect(notified).toEqual([]);
  await clock.advance(100);
  expect(notified).toEqual(['agent', 'embed']);
  await clock.advance(1_000);
  expect(notified).toHaveLength(2);
  notifier.changed('agent');
  notifier.flush();
  await clock.advance(1_000);
  expect(notified).toEqual(['agent', 'embed', 'agent']);
});
