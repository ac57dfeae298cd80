/**
 * How a request ended. `refused`: the request itself was at fault (4xx). `failed`: the gateway or its target was (5xx, a
 * response that broke off, an error inside a stream). `cancelled`: the client disconnected.
 */
export type RequestOutcome = 'done' | 'refused' | 'failed' | 'cancelled';

const CLIENT_CLOSED = 499;

/**
 * Classifies a finished request. Every list, counter and graph uses this rule, so that their numbers agree. `status` is
 * null for a request without an end, `error` is the code of the failure.
 */
export function requestOutcome(request: {
  readonly status: number | null;
  readonly error: string | null;
}): RequestOutcome {
  const { status, error } = request;
  if (status === null || status >= 500) return 'failed';
  if (status === CLIENT_CLOSED) return 'cancelled';
  if (status >= 400) return 'refused';
  return error === null ? 'done' : 'failed';
}
