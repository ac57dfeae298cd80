import { expect, test } from 'vitest';
import { anthropicErrorType } from '../../contract/anthropic-error.ts';
import { openaiErrorType } from '../../contract/errors.ts';
import { errorOf, normalizeError } from './normalize-error.ts';

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
  [{ message: 'own', code: 'oom', type: 'out_of_memory' }, 500, 'oom', 'out_of_memory'],
])('%j of %s', (error, status, code, type) => {
  const whole = normalizeError(error, status, anthropicErrorType);
  expect(whole).toEqual({ ...error, code, type, param: null });
});

test('missing fields of an error are filled in', () => {
  const whole = normalizeError({ param: 7, hint: 1 }, 400, openaiErrorType);
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
