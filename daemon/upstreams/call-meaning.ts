import type { FailureKind } from './circuit-breaker.ts';
import { faultOf } from './connection-error.ts';

/**
 * How one call ended: the status of the response, the error of the connection, a missing route (which says
 * nothing about health or key), or null without information.
 */
export type CallEnd =
  | { readonly status: number }
  | { readonly failed: unknown }
  | { readonly lacks: 'count' }
  | null;

/** What the end of a call means for an upstream. */
export type Meaning =
  | { readonly is: 'nothing' | 'busy' | 'refused' | 'forbidden' }
  /** Not `good`: it found fault with the request. */
  | { readonly is: 'ok'; readonly good: boolean }
  | { readonly is: 'failed'; readonly kind: FailureKind; readonly reason: string };

/**
 * Statuses with a specific meaning. 429 and 503 mean busy, not broken: servers use them to shed load or
 * while loading, with or without a retry time. 403 may concern a single request only: moderation, or a model
 * that this key may not use. A complete 500 is mostly the fault of its request.
 */
const STATUSES: Readonly<Record<number, 'busy' | 'refused' | 'forbidden' | 'error'>> = {
  401: 'refused',
  403: 'forbidden',
  429: 'busy',
  500: 'error',
  503: 'busy',
};

/** Returns what the end of a call means; `hasStatus` when the status of a response was received before. */
export function meaningOf(end: CallEnd, hasStatus: boolean): Meaning {
  if (end === null || 'lacks' in end) return { is: 'nothing' };
  if ('failed' in end) {
    const { kind, message } = faultOf(end.failed);
    return { is: 'failed', kind: hasStatus ? 'broken' : kind, reason: message };
  }
  const { status } = end;
  const known = STATUSES[status];
  const reason = `It answered with status ${status}.`;
  if (known === 'error') return { is: 'failed', kind: 'error', reason };
  if (known !== undefined) return { is: known };
  const isBad = status >= 500 || (status >= 300 && status < 400);
  return isBad ? { is: 'failed', kind: 'badStatus', reason } : { is: 'ok', good: status < 300 };
}
