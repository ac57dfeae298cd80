import { expect, it } from 'vitest';
import { ApiError, lost } from './api-error.ts';
import { isOutdated, tellsOutdated } from './outdated.ts';

const failed = (status: number, code: string) => new ApiError({ ...lost().picture, status, code });
const reading = (error: unknown, data: unknown = {}) => ({ data, error, isError: error !== null });
const here = { up: true, gate: 'open' as const };
const full = reading(failed(503, 'store.unavailable'));
const refused = reading(failed(401, 'auth.required'));

it('is outdated when a refresh failed and previous data exists', () => {
  expect(isOutdated(full)).toBe(true);
  expect(isOutdated({ ...full, data: undefined })).toBe(false);
  expect(isOutdated(reading(null))).toBe(false);
});

it('shows its own notice unless the notice above the view covers it', () => {
  expect(tellsOutdated(full, here)).toBe(true);
  expect(tellsOutdated(refused, { ...here, gate: 'lapsed' })).toBe(true);
  expect(tellsOutdated(full, { ...here, gate: 'expired' })).toBe(true);
  expect(tellsOutdated(refused, { ...here, gate: 'expired' })).toBe(false);
  expect(tellsOutdated(refused, { ...here, gate: 'enforced' })).toBe(false);
  expect(tellsOutdated(full, { ...here, up: false })).toBe(false);
  expect(tellsOutdated(reading(lost()), here)).toBe(false);
  expect(tellsOutdated(reading(null), here)).toBe(false);
});
