import { expect, it } from 'vitest';
import { ApiError, lost } from '../../api/api-error.ts';
import { nextLook } from './look.ts';

const refused = (code: string): ApiError => new ApiError({ ...lost().picture, status: 412, code });
const first = { revision: 'a', refusal: null };

it('stays the first one while nothing was refused for its sake, whatever is read meanwhile', () => {
  expect(nextLook(first, 'b', null)).toBe(first);
  expect(nextLook(first, 'b', refused('body.invalid'))).toBe(first);
});

it('follows a refusal once the file was read anew, and then stays', () => {
  const stale = refused('config.stale');
  expect(nextLook(first, 'a', stale)).toBe(first);
  const second = nextLook(first, 'b', stale);
  expect(second).toEqual({ revision: 'b', refusal: stale });
  expect(nextLook(second, 'c', stale)).toBe(second);
  expect(nextLook(second, 'c', null)).toBe(second);
});

it('follows each further refusal', () => {
  const second = nextLook(first, 'b', refused('config.stale'));
  expect(nextLook(second, 'c', refused('config.stale')).revision).toBe('c');
});
