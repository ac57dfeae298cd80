import { expect, it } from 'vitest';
import { ApiError, lost } from '../../api/api-error.ts';
import { nextEditBase } from './edit-base.ts';

const refused = (code: string): ApiError => new ApiError({ ...lost().info, status: 412, code });
const first = { revision: 'a', refusal: null };

it('keeps the first revision until a change is refused', () => {
  expect(nextEditBase(first, 'b', null)).toBe(first);
  expect(nextEditBase(first, 'b', refused('body.invalid'))).toBe(first);
});

it('adopts the new revision after a refusal, and then keeps it', () => {
  const stale = refused('config.stale');
  expect(nextEditBase(first, 'a', stale)).toBe(first);
  const second = nextEditBase(first, 'b', stale);
  expect(second).toEqual({ revision: 'b', refusal: stale });
  expect(nextEditBase(second, 'c', stale)).toBe(second);
  expect(nextEditBase(second, 'c', null)).toBe(second);
});

it('adopts the new revision after each refusal', () => {
  const second = nextEditBase(first, 'b', refused('config.stale'));
  expect(nextEditBase(second, 'c', refused('config.stale')).revision).toBe('c');
});
