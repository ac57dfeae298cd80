type Json = Record<string, unknown>;

/** The prefix by which clients of Anthropic's API recognise that a prompt must be shortened. */
const TOO_LONG = 'prompt is too long: ';

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [529, 'overloaded_error'],
]);

/**
 * Anthropic's `error.type` for a status (https://platform.claude.com/docs/en/api/errors). Inside a stream it
 * is the only field by which a client decides whether to retry.
 */
export const anthropicErrorType = (status: number): string =>
  TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/**
 * Adds the top-level `type` to an error envelope, as clients of Anthropic's API expect. All other fields stay;
 * the caller sets `error.type`.
 */
export function anthropicEnvelope<T extends { readonly error?: unknown }>(body: T): T & { type: 'error' } {
  const error = body.error as Json | undefined;
  const long = error?.code === 'context_length_exceeded' && typeof error.message === 'string';
  return {
    type: 'error',
    ...body,
    ...(long ? { error: { ...error, message: `${TOO_LONG}${error.message}` } } : {}),
  };
}
