import { type Method, ROUTES, type RouteId } from '../../daemon/contract/routes.ts';
import { ApiError, failureOf, isLost, lost } from './api-error.ts';
import { reportAnswer, reportLost } from './connection.ts';
import type { CallableId, Responses } from './responses.ts';

/** Timeout for a request to the management API. */
const LIMIT_MS = 20_000;

export interface CallOptions {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** A multipart body instead of JSON; the browser sets the content type. */
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The header that makes a change fail when the file has changed since it was read. */
export const ifMatch = (revision: string): Record<string, string> => ({ 'if-match': `"${revision}"` });

/** The URL path of a route with its parameters and query. */
export function addressOf(id: RouteId, options: Pick<CallOptions, 'params' | 'query'> = {}): string {
  const path = ROUTES[id].path.replace(/[:*](\w+)/g, (whole, name: string) => {
    const value = options.params?.[name];
    if (value === undefined) throw new Error(`the route ${id} needs the parameter ${whole}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(options.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

function init(method: Method, options: CallOptions, limit: AbortSignal | null): RequestInit {
  const signals = [options.signal, limit].filter((signal) => signal != null);
  return {
    method,
    cache: 'no-store',
    credentials: 'same-origin',
    signal: AbortSignal.any(signals),
    headers: {
      ...options.headers,
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.form === undefined ? {} : { body: options.form }),
  };
}

/**
 * Sends a request to a route and returns the unread 2xx response. Throws ApiError for every other outcome; rethrows the
 * abort of the caller unchanged. A `limitMs` of null means no timeout in addition to the signal of the caller.
 */
export async function send(id: RouteId, options: CallOptions, limitMs: number | null): Promise<Response> {
  const limit = limitMs === null ? null : AbortSignal.timeout(limitMs);
  const answer = await fetch(addressOf(id, options), init(ROUTES[id].method, options, limit)).catch(() => {
    options.signal?.throwIfAborted();
    reportLost();
    throw lost();
  });
  if (answer.ok) {
    reportAnswer();
    return answer;
  }
  const failure = await failureOf(answer);
  if (isLost(failure)) reportLost();
  else reportAnswer();
  throw failure;
}

/** Calls a JSON route and returns the parsed response. Throws ApiError. `limitMs` extends the timeout for slow actions. */
export async function call<Id extends CallableId>(
  id: Id,
  options: CallOptions = {},
  limitMs = LIMIT_MS,
): Promise<Responses[Id]> {
  const answer = await send(id, options, limitMs);
  try {
    return (await answer.json()) as Responses[Id];
  } catch {
    options.signal?.throwIfAborted();
    throw new ApiError({ ...lost().info, message: 'The response was interrupted or is not valid JSON.' });
  }
}
