import { expect, test } from 'vitest';
import { newRequestId } from './request-id.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('a request id is a UUID of version 7 with the time', () => {
  const before = Date.now();
  const id = newRequestId();
  expect(id).toMatch(UUID_V7);
  const ms = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now());
});

test('no two are the same', () => {
  expect(new Set(Array.from({ length: 1_000 }, newRequestId)).size).toBe(1_000);
});
