import { expect, test } from 'vitest';
import { busyBetween, busyCounters } from './busy-counter.ts';
import { newDevice } from './device-facts.ts';

test('percentage of the time between two readings', () => {
  expect(busyBetween({ counterUs: 0, atMs: 0 }, { counterUs: 500_000, atMs: 2000 })).toBe(25);
  expect(busyBetween({ counterUs: 0, atMs: 0 }, { counterUs: 9_000_000, atMs: 2000 })).toBe(100);
});

test('returns null for one reading, two too close together, or a decreased counter', () => {
  expect(busyBetween(undefined, { counterUs: 5, atMs: 5 })).toBeNull();
  expect(busyBetween({ counterUs: 0, atMs: 0 }, { counterUs: 5, atMs: 999 })).toBeNull();
  expect(busyBetween({ counterUs: 9, atMs: 0 }, { counterUs: 5, atMs: 5000 })).toBeNull();
});

test('tracks devices between readings', () => {
  const device = newDevice({ id: 'a', kind: 'npu', vendor: 'intel', vendorId: 1, deviceId: 1 });
  const count = busyCounters();
  device.busyCounterUs = 1_000_000;
  count([device], 1000);
  expect(device.busyPercent).toBeNull();
  device.busyCounterUs = 1_500_000;
  count([device], 2000);
  expect(device.busyPercent).toBe(50);
});
