import { beforeEach, expect, test } from 'vitest';
import { forgetReload, mayReload, takeReloadReason } from './reload.ts';

const NOW = 1_000_000;
let record = new Map<string, string>();
const storage = {
  getItem: (key: string) => record.get(key) ?? null,
  setItem: (key: string, value: string) => void record.set(key, value),
  removeItem: (key: string) => void record.delete(key),
};
const off = {
  ...storage,
  setItem: () => {
    throw new Error('storage is off');
  },
};

beforeEach(() => {
  record = new Map();
});

test('allows one reload per minute, and another on request', () => {
  expect(mayReload(storage, 'missing', NOW)).toBe(true);
  expect(mayReload(storage, 'updated', NOW + 59_999)).toBe(false);
  expect(mayReload(storage, 'updated', NOW + 60_000)).toBe(true);
  forgetReload(storage);
  expect(mayReload(storage, 'missing', NOW + 60_001)).toBe(true);
});

test('never allows a reload without storage', () => {
  expect(mayReload(off, 'missing', NOW)).toBe(false);
});

test('is not blocked by a clock that was set back', () => {
  expect(mayReload(storage, 'missing', NOW)).toBe(true);
  expect(mayReload(storage, 'missing', NOW - 3_600_000)).toBe(true);
});

test('returns the reason once, and still counts the reload', () => {
  expect(takeReloadReason(storage, NOW)).toBeNull();
  mayReload(storage, 'updated', NOW);
  expect(takeReloadReason(storage, NOW + 2000)).toBe('updated');
  expect(takeReloadReason(storage, NOW + 3000)).toBeNull();
  expect(mayReload(storage, 'updated', NOW + 4000)).toBe(false);
  record.set('svc.reload', 'not json');
  expect(takeReloadReason(storage, NOW)).toBeNull();
});
