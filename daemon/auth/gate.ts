import type { AuthClass, Tier } from '../contract/auth.ts';
import type { ClassRule } from '../contract/routes.ts';

export type Decision = 'pass' | 'auth.required' | 'auth.forbidden';

/** Everything other than class and tier that the decision depends on. */
export interface GateState {
  /** Enforcement, effective now. */
  readonly enforced: boolean;
  readonly hasAdminKey: boolean;
  /**
   * The configured admin key is unusable, so no caller can present it. Its owner did not mean the gateway to
   * be open.
   */
  readonly unusableAdminKey: boolean;
  /** `[security].memory_class`. */
  readonly memoryClass: 'admin' | 'client';
  /** `[security].guard_remote_admin` and the listener is not loopback. */
  readonly guarded: boolean;
  /** The caller is on another machine; only read while enforcement is off. */
  readonly remote: boolean;
}

const RANK: Readonly<Record<Tier, number>> = { anon: 0, client: 1, admin: 2 };

type AdminKeyState = Pick<GateState, 'hasAdminKey' | 'unusableAdminKey'>;
const isAdminKeyConfigured = (state: AdminKeyState): boolean => state.hasAdminKey || state.unusableAdminKey;

/**
 * The current meaning of a class rule: bootstrap is open until an admin key exists, memory follows its
 * setting (docs/spec/specification.md#route-classes).
 */
export function effectiveClass(
  rule: ClassRule,
  state: AdminKeyState & Pick<GateState, 'memoryClass'>,
): Exclude<AuthClass, 'bootstrap'> {
  if (rule === 'memory') return state.memoryClass;
  if (rule === 'bootstrap') return isAdminKeyConfigured(state) ? 'admin' : 'open';
  return rule;
}

/**
 * Decides by class, tier and enforcement (docs/spec/specification.md#route-classes). With enforcement off
 * every caller passes, except that once an admin key exists, callers from other machines need the admin tier
 * on admin routes. Enforcement on without an admin key fails closed: only open and bootstrap routes pass,
 * whatever the credential.
 */
export function decide(rule: ClassRule, tier: Tier, state: GateState): Decision {
  const required = effectiveClass(rule, state);
  if (required === 'open') return 'pass';
  if (state.enforced) return state.hasAdminKey && RANK[tier] >= RANK[required] ? 'pass' : refusal(tier);
  const needsAdmin = required === 'admin' && isAdminKeyConfigured(state) && state.guarded && state.remote;
  return needsAdmin && tier !== 'admin' ? refusal(tier) : 'pass';
}

const refusal = (tier: Tier): Decision => (tier === 'anon' ? 'auth.required' : 'auth.forbidden');
