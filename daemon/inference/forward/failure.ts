import { GatewayError } from '../../contract/errors.ts';
import { BadResponseError } from '../../upstreams/query-upstream.ts';

const code = (error: unknown): string => {
  const found = (error as { code?: unknown } | null)?.code;
  return typeof found === 'string' ? found : '';
};

/** Codes of a peer that was connected but exceeded a time limit. */
const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Codes of a peer whose response is not acceptable HTTP. */
const GARBAGE: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Not every parser error has a code; the name identifies the others. */
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

/** The connection failed, or was closed, before any byte of the request was sent. */
export class RequestUnsent extends GatewayError {
  constructor(cause: unknown) {
    super('dispatch.upstream_unavailable', { cause });
  }
}

/** Returns the error for an engine that disconnected after its response had started. */
export function brokenResponse(error: unknown): GatewayError {
  if (TIMEOUTS.has(code(error))) return connectionFailure(error);
  return new GatewayError('dispatch.upstream_unavailable', {
    message: 'The engine or upstream broke off its answer.',
    cause: error,
  });
}

/** Returns the error for a response with a content coding that cannot be decoded (RFC 9110 section 8.4). */
export const unsupportedCoding = (coding: string): GatewayError =>
  new GatewayError('upstream.error', {
    message: `The engine or upstream answered with the content coding ${JSON.stringify(coding.slice(0, 40))}, which is not supported.`,
    cause: new BadResponseError('Its response has an unsupported content coding.'),
  });

/** Returns the error for a stream that ended cleanly before the response was complete. */
export const endedEarly = (): GatewayError =>
  new GatewayError('upstream.error', {
    message: 'The engine ended its answer early.',
    cause: new BadResponseError('It ended its answer early.'),
  });

/** Returns the error for an answer that the engine itself reports as not completed. */
export const answerAborted = (): GatewayError =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream stopped before its answer was complete.',
    cause: new BadResponseError('It aborted its answer.'),
  });

/** Returns the error for a line that exceeds the limit. */
export const lineTooLong = (): GatewayError =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream sent a line without an end.',
    cause: new BadResponseError('It sent a line without an end.'),
  });
