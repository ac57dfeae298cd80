import { expect, test } from 'vitest';
import { retryAfterOf } from './hub-status.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
test.each([
  [{ 'retry-after': '12' }, 12],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '99999' }, 300],
  [{ 'retry-after': new Date(NOW + 30_000).toUTCString() }, 30],
  [{ 'retry-after': new Date(NOW - 30_000).toUTCString() }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ ratelimit: '"resolvers";r=0;t=7' }, 7],
  [{ ratelimit: '"api";r=0;t=3, "resolvers"; r=0; t=42' }, 42],
  [{ ratelimit: '"api";r=10;t=300' }, null],
  [{ ratelimit: '"api";r=0' }, null],
  [{ 'retry-after': '5', ratelimit: '"api";r=0;t=60' }, 5],
  [{}, null],
])('%j: %s s', (headers, seconds) => expect(retryAfterOf(headers, NOW)).toBe(seconds));
