import { expect, it } from 'vitest';
import { requestOutcome } from './request-outcome.ts';

it.each([
  [200, null, 'done'],
  [204, null, 'done'],
  [200, 'upstream.error', 'failed'],
  [401, 'auth.required', 'refused'],
  [404, 'dispatch.no_route', 'refused'],
  [429, 'slot.queue_full', 'refused'],
  [499, null, 'cancelled'],
  [499, 'request.cancelled', 'cancelled'],
  [500, 'internal', 'failed'],
  [507, 'slot.no_memory', 'failed'],
  [null, null, 'failed'],
])('%s with error %s is %s', (status, error, outcome) => {
  expect(requestOutcome({ status, error })).toBe(outcome);
});
