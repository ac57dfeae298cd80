import { expect, test } from 'vitest';
import { healthOf, type StoreState, WAL_ALARM_BYTES } from './health.ts';

const healthy: StoreState = {
  failing: null,
  damaged: false,
  failures: 0,
  dropped: 0,
  location: 'file',
  alarm: null,
  walBytes: 0,
  waiting: 0,
  sqlite: '3.54.1',
  version: 1,
};
const moved = 'The database was moved aside.';

test.each<[string, Partial<StoreState>, string, RegExp]>([
  ['well', {}, 'ok', /^SQLite 3\.54\.1, schema 1\.$/],
  [
    'in memory',
    { location: 'memory', alarm: 'Nothing is kept.', damaged: true },
    'failed',
    /^Nothing is kept\.$/,
  ],
  ['damaged while running', { damaged: true, failing: 'it is damaged' }, 'failed', /Restart/],
  [
    'failing',
    { failing: 'the disk is full', alarm: moved, waiting: 3 },
    'failed',
    /the disk is full\. 3 rows wait/,
  ],
  ['moved aside', { alarm: moved, dropped: 1 }, 'warning', /moved aside/],
  ['log too large', { walBytes: WAL_ALARM_BYTES }, 'warning', /grown to 64 MiB, because another program/],
  ['rows lost', { dropped: 7 }, 'warning', /7 log rows were dropped/],
])('%s', (_, change, status, message) => {
  const verdict = healthOf({ ...healthy, ...change });
  expect(verdict.status).toBe(status);
  expect(verdict.message).toMatch(message);
});
