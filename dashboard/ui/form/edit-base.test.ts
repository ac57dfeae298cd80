import { expect, it } from 'vitest';
import { ApiError, lost } from '../../api/api-error.ts';
import { nextEditBase } from './edit-base.ts';

const refused = (code: string): ApiError => new ApiError({ ...lost().picture, status: 412, code });
const first = { revision: 'a', refusal: null };

it('stays the first one while nothing was refused for its sake, whatever is read meanwhile', () => {
  expect(nextEditBase(first, 'b', null)).toBe(first);
  expect(nextEditBase(first, 'b', refused('body.invalid'))).toBe(first);
});

it('follows a refusal once the file was read anew, and then stays', () => {
  const stale = refused('config.stale');
  expect(nextEditBase(first, 'a', stale)).toBe(first);
  const second = nextEditBase(first, 'b', stale);
  expect(second).toEqual({ revision: 'b', refusal: stale });
  expect(nextEditBase(second, 'c', stale)).toBe(second);
  expect(nextEditBase(second, 'c', null)).toBe(second);
});

it('follows each further refusal', () => {
  const second = nextEditBase(first, 'b', refused('config.stale'));
  expect(nextEditBase(second, 'c', refused('config.stale')).revision).toBe('c');
});
