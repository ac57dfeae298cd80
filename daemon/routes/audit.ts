import type { RouteDeps } from './deps.ts';
import type { LegacyCall as Call } from './handler.ts';

/** Writes an audit row. `details` must not contain a secret. Never throws. */
export function audit(
  deps: Pick<RouteDeps, 'auth' | 'store'>,
  call: Call,
  action: string,
  details: Record<string, unknown>,
): void {
  deps.store.audit.add({ action, tier: call.caller.tier, address: deps.auth.address(call.auth), details });
}
