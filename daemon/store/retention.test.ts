import { expect, test } from 'vitest';
import { SETTINGS } from '../settings/catalogue.ts';
import { Retention, ROUND_MS } from './retention.ts';
import { DEFAULT_RETENTION, type RetentionLimits } from './retention-limits.ts';

const START = Date.parse('2030-06-15T12:00:00.000Z');

function setUp(change: Partial<RetentionLimits> = {}) {
  const clock = { ms: START };
  const pruned: object[] = [];
  const more = { requests: 0, usage: 0 };
  const retention = new Retention({
    requests: {
      prune: (bounds) => {
        pruned.push(bounds);
        return more.requests-- > 0;
      },
    },
    usage: {
      prune: (bounds) => {
        pruned.push(bounds);
        return more.usage-- > 0;
      },
    },
    limits: () => ({ ...DEFAULT_RETENTION, ...change }),
    now: () => clock.ms,
  });
  return { clock, pruned, more, retention };
}

test('a round prunes both by age and by number, then pauses for a minute', () => {
  const { clock, pruned, retention } = setUp();
  retention.tick();
  expect(pruned).toEqual([
    { rows: 20_000, since: '2030-05-16T12:00:00.000Z' },
    { rows: 50_000, sinceDay: '2029-05-11' },
  ]);
  clock.ms += ROUND_MS - 1;
  retention.tick();
  expect(pruned).toHaveLength(2);
  clock.ms += 1;
  retention.tick();
  expect(pruned).toHaveLength(4);
});

test('an unfinished round continues with the next tick, one step at a time', () => {
  const { clock, pruned, more, retention } = setUp();
  more.requests = 3;
  more.usage = 1;
  for (let second = 0; second < 30; second++) {
    retention.tick();
    clock.ms += 1_000;
  }
  expect(pruned).toHaveLength(2 * 4);
});

test('0 days means no age limit, and a clock that is set back does not stop the rounds', () => {
  const { clock, pruned, retention } = setUp({ requestDays: 0, usageDays: 0 });
  retention.tick();
  expect(pruned).toEqual([
    { rows: 20_000, since: null },
    { rows: 50_000, sinceDay: null },
  ]);
  clock.ms -= 365 * 86_400_000;
  retention.tick();
  expect(pruned).toHaveLength(4);
});

test('the defaults match those of the settings', () => {
  expect(DEFAULT_RETENTION).toEqual({
    requestRows: SETTINGS.requestLogRows.default,
    requestDays: SETTINGS.requestLogDays.default,
    usageRows: SETTINGS.usageRows.default,
    usageDays: SETTINGS.usageDays.default,
  });
});
