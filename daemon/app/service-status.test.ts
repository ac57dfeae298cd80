import { expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { statusLine } from './service-status.ts';

const slots = (...states: SlotRecord['state'][]) => states.map((state) => ({ state }));
const healthy = { status: 'ok', message: 'SQLite, schema 1.' } as const;

it.each([
  [slots(), '0 slots'],
  [slots('ready'), '1 slot: 1 ready'],
  [
    slots('offline', 'ready', 'error', 'offline', 'serving'),
    '5 slots: 1 serving, 1 ready, 2 offline, 1 error',
  ],
])('%j', (list, line) => {
  expect(statusLine(list, healthy)).toBe(line);
});

it('reports a failed database, but not a warning', () => {
  const failed = { status: 'failed', message: 'The database fails: full.' } as const;
  expect(statusLine(slots('ready'), failed)).toBe('1 slot: 1 ready. The database fails: full.');
  expect(statusLine(slots('ready'), { status: 'warning', message: 'large' })).toBe('1 slot: 1 ready');
});
