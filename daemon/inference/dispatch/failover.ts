import { GatewayError } from '../../contract/errors.ts';
import { faultOf } from '../../upstreams/connection-error.ts';
import type { Decision } from './dispatch.ts';
import type { RoutingView } from './routing-view.ts';
import { fromLists } from './upstream-cached.ts';

/**
 * Returns whether a failure proves that the request was never sent: the connection to the upstream did not
 * open.
 */
export const neverSent = (failure: unknown): boolean =>
  failure instanceof GatewayError &&
  failure.code === 'dispatch.upstream_unavailable' &&
  failure.cause !== undefined &&
  faultOf(failure.cause).isUnsent;

/**
 * Chooses the failover target of a request whose upstream could not be reached: another healthy upstream that
 * lists the same id. Null when there is none, and for a model that the registry binds to the unreachable
 * upstream.
 */
export function otherUpstream(
  { target, step }: Decision,
  tried: ReadonlySet<string>,
  view: RoutingView,
): Decision | null {
  if (target.kind !== 'upstream' || step === 'registry') return null;
  const others = view.upstreams.filter(
    ({ name, isHealthy, failingModels }) => isHealthy && !failingModels.has(target.model) && !tried.has(name),
  );
  const outcome = fromLists(others, target.model);
  return outcome?.is === 'match' ? { step, target: outcome.target } : null;
}
