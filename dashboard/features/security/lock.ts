import type { StatusOverviewView } from '../../../daemon/contract/system.ts';

/** Why the switch is disabled; null when it is enabled. */
export type Lock = 'env' | 'no_key' | null;

/**
 * Returns whether the switch is locked (docs/spec/specification.md#enforcement): the environment wins, and
 * "on" needs an admin key.
 */
export function lockOf(status: Pick<StatusOverviewView, 'enforcement' | 'has_admin_key'>): Lock {
  if (status.enforcement.source === 'env') return 'env';
  return !status.enforcement.require_auth && !status.has_admin_key ? 'no_key' : null;
}
