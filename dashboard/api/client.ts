import { type Method, ROUTES, type RouteId } from '../../daemon/contract/routes.ts';
import { ApiError, failureOf, isLost, lost } from './api-error.ts';
import { reportAnswer, reportLost } from './connection.ts';
import type { CallableId, Responses } from './responses.ts';

/** Longest wait for one answer of the management API. */
const LIMIT_MS = 20_000;

export interface CallOptions {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** Sent in the place of a JSON body, in parts; the browser names its type. */
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The header by which a change is refused when the file is no longer the one that was read. */
export const ifMatch = (revision: string): Record<string, string> => ({ 'if-match': `"${revision}"` });

/** Address of a route of the table with its parameters filled in. */
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
 * Sends to a route of the table and gives the 2xx answer unread. Throws ApiError for every other outcome, except
 * that the caller's own abort is thrown as it is. `limitMs` null: no limit beyond the caller's signal.
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

/** Calls a JSON route of the table. Throws ApiError; `limitMs` is for acts that take longer than a read. */
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
    throw new ApiError({ ...lost().picture, message: 'The answer broke off or is not JSON.' });
  }
}
