import fc from 'fast-check';
import { expect, test } from 'vitest';
import { waitTimesOf } from './wait-times.ts';

const engine = { startedAt: 1_000, readyAt: 1_500 };

test.each([
  ['for nothing at a loaded model', 2_000, 2_000, [0, 0, 0]],
  ['for its turn', 2_000, 2_300, [0, 0, 300]],
  ['for the whole load', 1_000, 1_500, [0, 500, 0]],
  ['for the rest of a load and a turn', 1_400, 1_900, [0, 100, 400]],
  ['for memory, the load and a turn', 600, 1_900, [400, 500, 400]],
])('a request waits %s', (_, requestedAt, grantedAt, [memory_ms, load_ms, queue_ms]) => {
  expect(waitTimesOf(requestedAt, grantedAt, engine)).toEqual({ memory_ms, load_ms, queue_ms });
});

test('the parts are never negative and add up to the whole wait, also after a clock change', () => {
  const at = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(at, at, at, fc.nat(10_000), (requestedAt, startedAt, readyAt, waited) => {
      const parts = Object.values(waitTimesOf(requestedAt, requestedAt + waited, { startedAt, readyAt }));
      expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(waited);
    }),
  );
});
