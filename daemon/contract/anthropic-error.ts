type Json = Record<string, unknown>;

/** Words by which agents that speak to Anthropic know that a prompt must be shortened. */
const TOO_LONG = 'prompt is too long: ';

/** An error envelope with `type` on top, as clients of Anthropic's API read one; everything of ours stays. */
export function anthropicEnvelope<T extends { readonly error?: unknown }>(body: T): T & { type: 'error' } {
  const error = body.error as Json | undefined;
  const long = error?.code === 'context_length_exceeded' && typeof error.message === 'string';
  return {
    type: 'error',
    ...body,
    ...(long ? { error: { ...error, message: `${TOO_LONG}${error.message}` } } : {}),
  };
}
