import { GatewayError } from '../../contract/errors.ts';
import { faultOf } from '../../upstreams/connection-error.ts';
import { UpstreamDown } from '../../upstreams/refusals.ts';
import type { EngineFailure } from '../forward/engine-error.ts';
import { RequestUnsent } from '../forward/failure.ts';
import { isUsable } from './balance.ts';
import type { Decision } from './dispatch.ts';
import type { RoutingView } from './routing-view.ts';
import { fromLists } from './upstream-cached.ts';

/**
 * Why a request may be sent again, to another upstream (docs/spec/contract.md#retries). `unsent`: no byte of it
 * was sent. `busy`: the upstream answered 429 or 503. `down`: the upstream was declared down while the request
 * waited.
 */
export type FailoverCase = 'unsent' | 'busy' | 'down';

/** Statuses with which a server says that it did not start the work. */
const BUSY_STATUSES: ReadonlySet<unknown> = new Set([429, 503]);

/** The upstream is busy. Its own error does not reach the caller. */
export class UpstreamBusy extends GatewayError {
  constructor({ status, hints }: EngineFailure) {
    super('upstream.error', { status, details: { upstream_status: status }, headers: hints });
  }
}

export const isBusyStatus = (status: number): boolean => BUSY_STATUSES.has(status);

/**
 * Returns which case of docs/spec/contract.md#retries a failure is; null for every other failure, after which
 * the upstream may have started the work. The failure came before any byte of an answer went to the caller.
 */
export function failoverCaseOf(failure: unknown): FailoverCase | null {
  if (!(failure instanceof GatewayError)) return null;
  if (failure instanceof RequestUnsent) return 'unsent';
  if (failure instanceof UpstreamDown) return 'down';
  if (BUSY_STATUSES.has(failure.options.details?.upstream_status)) return 'busy';
  const { code, cause } = failure;
  if (code !== 'dispatch.upstream_unavailable' || cause === undefined) return null;
  return faultOf(cause).isUnsent ? 'unsent' : null;
}

/**
 * Chooses the failover target of a request whose upstream does not serve it: another healthy upstream that
 * lists the same id. Busy ones come last. Null when there is none, and for a model that the registry binds to its upstream.
 */
export function otherUpstream(
  { target, step }: Decision,
  tried: ReadonlySet<string>,
  view: RoutingView,
): Decision | null {
  if (target.kind !== 'upstream' || step === 'registry') return null;
  const others = view.upstreams.filter((each) => isUsable(each, target.model) && !tried.has(each.name));
  const outcome = fromLists(others, target.model);
  return outcome?.is === 'match' ? { step, target: outcome.target, rule: outcome.rule ?? null } : null;
}
