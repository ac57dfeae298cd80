import { GatewayError } from '../contract/errors.ts';
import type { CallContext, ParsedRequest, PreparedRequest } from './call-context.ts';
import { TransformedResponse } from './transform-response.ts';

/**
 * Returns an engine's token count in the one form of `/v1/chat/completions/input_tokens`. llama-server and
 * svc-gateway name it `input_tokens`, vLLM `count`, next to the tokens themselves. Throws `upstream.error` (502) for
 * an answer without a count.
 */
export function tokenCountOf(bytes: Buffer): Buffer {
  const { input_tokens, count } = parsed(bytes);
  const tokens = input_tokens ?? count;
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0)
    throw new GatewayError('upstream.error', {
      message: 'The engine returned no token count.',
      noRetry: true,
    });
  return Buffer.from(JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens }));
}

function parsed(bytes: Buffer): { input_tokens?: unknown; count?: unknown } {
  try {
    return Object(JSON.parse(bytes.toString('utf8'))) as object;
  } catch {
    return {};
  }
}

/** Converts the count of every engine to one form. */
export async function prepareCount(
  { response, scope }: CallContext,
  { body }: ParsedRequest,
): Promise<PreparedRequest> {
  return { body, sink: () => new TransformedResponse({ response, scope, transform: tokenCountOf }) };
}
