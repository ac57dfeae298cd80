import { expect, test } from 'vitest';
import { anthropicErrorType } from '../../contract/anthropic-error.ts';
import { errorOf, keepErrorType, normalizeError } from './normalize-error.ts';

test.each([
  [{ message: 'slow', code: 'rate_limit_exceeded' }, 429, 'rate_limit_exceeded', 'rate_limit_error'],
  [{ message: 'gpu lost', code: 500 }, null, 'upstream.error', 'api_error'],
  [{ message: 'full', code: 529 }, null, 'upstream.error', 'overloaded_error'],
  [{ message: 'no', code: null }, 404, 'upstream.error', 'not_found_error'],
  [{ message: 'no', code: '' }, null, 'upstream.error', 'api_error'],
  [
    {
      message: 'Prompt contains 9 tokens, too large for model with 8',
      code: 'bad',
      type: 'invalid_request_error',
    },
    400,
    'context_length_exceeded',
    'invalid_request_error',
  ],
  [{ message: 'own', code: 'oom', type: 'out_of_memory' }, 500, 'oom', 'api_error'],
  [
    { message: 'no', code: 'model_not_found', type: 'invalid_request_error' },
    404,
    'model_not_found',
    'not_found_error',
  ],
  [{ message: 'no', code: 'x', type: 'NotFoundError' }, 404, 'x', 'not_found_error'],
  [
    { message: 'broke', code: 'dispatch.upstream_unavailable', type: 'server_error' },
    null,
    'dispatch.upstream_unavailable',
    'api_error',
  ],
  [
    { message: 'full', code: 'slot.queue_full', type: 'rate_limit_error' },
    null,
    'slot.queue_full',
    'rate_limit_error',
  ],
  [
    { message: 'slow', code: 'upstream.error', type: 'rate_limit_error' },
    null,
    'upstream.error',
    'rate_limit_error',
  ],
  [
    { message: 'gone', code: 'slot.draining', type: 'server_error' },
    null,
    'slot.draining',
    'overloaded_error',
  ],
  [
    { message: 'paid', code: 'insufficient_quota', type: 'insufficient_quota' },
    null,
    'insufficient_quota',
    'rate_limit_error',
  ],
])('%j of %s on the routes of Anthropic', (error, status, code, type) => {
  const whole = normalizeError(error, status, anthropicErrorType);
  expect(whole).toEqual({ ...error, code, type, param: null });
});

test.each([
  [{ type: 'out_of_memory' }, 500, 'out_of_memory'],
  [{ type: '' }, 500, 'server_error'],
  [{ type: 7 }, 429, 'rate_limit_error'],
  [{}, null, 'server_error'],
])('%j of %s keeps its type on the other routes', (error, status, type) => {
  expect(normalizeError(error, status, keepErrorType).type).toBe(type);
});

test('missing fields of an error are filled in', () => {
  const whole = normalizeError({ param: 7, hint: 1 }, 400, keepErrorType);
  expect(whole).toEqual({
    message: 'The engine or upstream responded with an error.',
    code: 'upstream.error',
    type: 'invalid_request_error',
    param: null,
    hint: 1,
  });
});

test.each([
  [{ error: 'gpu lost' }, { message: 'gpu lost' }],
  [{ error: { code: 1 } }, { code: 1 }],
  [{ error: null }, undefined],
  [{ error: '' }, undefined],
  [{}, undefined],
])('%j has the message %j', (body, error) => expect(errorOf(body)).toEqual(error));
