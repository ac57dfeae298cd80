import { expect, test } from 'vitest';
import { anthropicEnvelope, anthropicErrorType } from './anthropic-error.ts';
import { GatewayError } from './errors.ts';

test('adds the top-level type, the type of Anthropic, and keeps all other fields', () => {
  const error = new GatewayError('model.not_found', { param: 'model', details: { a: 1 } });
  const { error: openai } = error.envelope('openai');
  expect(error.envelope('anthropic')).toEqual({
    type: 'error',
    error: { ...openai, type: 'not_found_error' },
  });
});

test.each([
  ['dispatch.no_route', 'not_found_error'],
  ['auth.required', 'authentication_error'],
  ['auth.forbidden', 'permission_error'],
  ['auth.origin_forbidden', 'permission_error'],
  ['request.too_large', 'request_too_large'],
  ['request.invalid', 'invalid_request_error'],
  ['context_length_exceeded', 'invalid_request_error'],
  ['slot.queue_full', 'rate_limit_error'],
  ['slot.loading', 'overloaded_error'],
  ['slot.no_memory', 'api_error'],
  ['dispatch.upstream_unavailable', 'api_error'],
  ['dispatch.upstream_timeout', 'api_error'],
  ['internal', 'api_error'],
] as const)('%s is %s on the routes of Anthropic', (code, type) => {
  expect(new GatewayError(code).envelope('anthropic').error.type).toBe(type);
});

test('the message for a prompt that is too long begins with the text that agents expect', () => {
  const message = 'request (9 tokens) exceeds the available context size (4 tokens)';
  const envelope = new GatewayError('context_length_exceeded', { message }).envelope('anthropic');
  expect(envelope.error.message).toBe(`prompt is too long: ${message}`);
});

test.each([[{}], [{ error: 'oops' }], [{ error: null }], [{ error: { code: 'context_length_exceeded' } }]])(
  '%j of an engine passes unchanged',
  (body) => {
    expect(anthropicEnvelope(body)).toEqual({ type: 'error', ...body });
  },
);

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [422, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'overloaded_error'],
  [529, 'overloaded_error'],
])('%d is %s', (status, type) => expect(anthropicErrorType(status)).toBe(type));
