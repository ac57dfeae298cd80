import type { IncomingHttpHeaders } from 'node:http';

/** Retry headers of HTTP and of the official clients. */
const RETRY_HINTS = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** Returns the headers that tell a caller whether and when to retry. */
export const retryHints = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    RETRY_HINTS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** Seconds after which a busy or loading server is tried again when it names no time itself. */
const RETRY_AFTER_S: Readonly<Record<number, string>> = { 429: '5', 503: '10' };
/** Codes and types of 429 for an account without credit: waiting does not help. */
const NO_CREDIT =
  /"(?:insufficient_quota|billing_hard_limit_reached|billing_not_active|exceeded_current_quota_error)"/;

/**
 * Adds what a 429 or 503 without any retry header leaves open (docs/spec/contract.md#retry-headers): agents give up
 * after seconds without `Retry-After`, for example on a llama-server that loads its model.
 */
export function withRetryAdvice(
  status: number,
  headers: IncomingHttpHeaders,
  body: Buffer,
): IncomingHttpHeaders {
  const seconds = RETRY_AFTER_S[status];
  if (seconds === undefined || RETRY_HINTS.some((name) => headers[name] !== undefined)) return headers;
  return NO_CREDIT.test(body.toString('latin1'))
    ? { ...headers, 'x-should-retry': 'false' }
    : { ...headers, 'retry-after': seconds };
}
