import { GatewayError } from '../../contract/errors.ts';
import { BadResponseError } from '../../upstreams/ask.ts';

const code = (error: unknown): string => {
  const found = (error as { code?: unknown } | null)?.code;
  return typeof found === 'string' ? found : '';
};

/** Codes of a peer that was there but did not keep its time. */
const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Codes of a peer whose answer is no HTTP that we accept. */
const GARBAGE: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** The parser names its errors, but not each of them has a code. */
const isGarbage = (error: unknown): boolean => {
  const found = code(error);
  if (GARBAGE.has(found) || found.startsWith('HPE_')) return true;
  return (error as { name?: unknown } | null)?.name === 'HTTPParserError';
};

/**
 * Returns the error for a failed connection: 504 for silence, 502 for everything else
 * (docs/spec/contract.md#error-codes).
 */
export function connectionFailure(error: unknown): GatewayError {
  const found = code(error);
  if (TIMEOUTS.has(found)) return new GatewayError('dispatch.upstream_timeout', { cause: error });
  if (isGarbage(error)) {
    return new GatewayError('upstream.error', {
      message: 'The engine or upstream did not answer in valid HTTP.',
      cause: error,
    });
  }
  return new GatewayError('dispatch.upstream_unavailable', { cause: error });
}

/** The engine broke off after its answer had begun. */
export function brokenResponse(error: unknown): GatewayError {
  if (TIMEOUTS.has(code(error))) return connectionFailure(error);
  return new GatewayError('dispatch.upstream_unavailable', {
    message: 'The engine or upstream broke off its answer.',
    cause: error,
  });
}

/** Its stream ended in good order, but not its answer. */
export const endedEarly = (): GatewayError =>
  new GatewayError('upstream.error', {
    message: 'The engine ended its answer early.',
    cause: new BadResponseError('It ended its answer early.'),
  });

/** A line of its answer is longer than any honest one. */
export const lineTooLong = (): GatewayError =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream sent a line without an end.',
    cause: new BadResponseError('It sent a line without an end.'),
  });
