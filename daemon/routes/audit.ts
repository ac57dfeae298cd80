import type { RouteDeps } from './deps.ts';
import type { RouteContext } from './handler.ts';

/** Writes an audit row. `details` must not contain a secret. Never throws. */
export function audit(
  deps: Pick<RouteDeps, 'auth' | 'store'>,
  { state }: Pick<RouteContext, 'state'>,
  action: string,
  details: Record<string, unknown>,
): void {
  deps.store.audit.add({ action, tier: state.caller.tier, address: deps.auth.address(state.auth), details });
}
