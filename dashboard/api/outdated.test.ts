import { expect, it } from 'vitest';
import { ApiError, lost } from './api-error.ts';
import { isOutdated, showsOutdatedNotice } from './outdated.ts';

const failed = (status: number, code: string) => new ApiError({ ...lost().info, status, code });
const reading = (error: unknown, data: unknown = {}) => ({ data, error, isError: error !== null });
const here = { up: true, sessionState: 'open' as const };
const full = reading(failed(503, 'store.unavailable'));
const refused = reading(failed(401, 'auth.required'));

it('is outdated when a refresh failed and previous data exists', () => {
  expect(isOutdated(full)).toBe(true);
  expect(isOutdated({ ...full, data: undefined })).toBe(false);
  expect(isOutdated(reading(null))).toBe(false);
});

it('shows its own notice unless the notice above the view covers it', () => {
  expect(showsOutdatedNotice(full, here)).toBe(true);
  expect(showsOutdatedNotice(refused, { ...here, sessionState: 'lapsed' })).toBe(true);
  expect(showsOutdatedNotice(full, { ...here, sessionState: 'expired' })).toBe(true);
  expect(showsOutdatedNotice(refused, { ...here, sessionState: 'expired' })).toBe(false);
  expect(showsOutdatedNotice(refused, { ...here, sessionState: 'enforced' })).toBe(false);
  expect(showsOutdatedNotice(full, { ...here, up: false })).toBe(false);
  expect(showsOutdatedNotice(reading(lost()), here)).toBe(false);
  expect(showsOutdatedNotice(reading(null), here)).toBe(false);
});
