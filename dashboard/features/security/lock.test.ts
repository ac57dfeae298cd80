import { expect, it } from 'vitest';
import { lockOf } from './lock.ts';

it.each([
  [false, 'default', true, null],
  [false, 'file', false, 'no_key'],
  [true, 'file', false, null],
  [true, 'env', true, 'env'],
  [false, 'env', false, 'env'],
] as const)('on %s from %s, admin key %s: %s', (require_auth, source, has_admin_key, lock) => {
  expect(lockOf({ enforcement: { require_auth, source }, has_admin_key })).toBe(lock);
});
