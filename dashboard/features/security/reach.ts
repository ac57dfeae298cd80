import type { ExposureRuleView, ExposureView } from '../../../daemon/contract/auth.ts';
import type { Tone } from '../../ui/tone.ts';

/** From where a route works without a key. */
export type Reach = 'everyone' | 'this machine' | 'none';

export interface ReachFacts {
  enforcement: ExposureView['enforcement'];
  listener: ExposureView['listener'];
  hasAdminKey: boolean;
  /** `[security].guard_remote_admin`. */
  guard: boolean;
}

export const REACH_BADGES: Record<Reach, { tone: Tone; word: string }> = {
  everyone: { tone: 'attention', word: 'Anyone' },
  'this machine': { tone: 'idle', word: 'This machine' },
  none: { tone: 'ok', word: 'Key needed' },
};

/**
 * Combines class and enforcement (docs/spec/specification.md#route-classes), the remote-admin guard
 * (docs/spec/contract.md#remote-admin-guard) and the reach of the listener.
 */
export function reachOf(rule: Pick<ExposureRuleView, 'auth_class'>, facts: ReachFacts): Reach {
  const far: Reach = facts.listener.loopback ? 'this machine' : 'everyone';
  const required = facts.enforcement.require_auth;
  const admin = rule.auth_class === 'admin' || (rule.auth_class === 'bootstrap' && facts.hasAdminKey);
  if (rule.auth_class === 'open' || (rule.auth_class === 'bootstrap' && !facts.hasAdminKey)) return far;
  if (required) return 'none';
  return admin && facts.hasAdminKey && facts.guard ? 'this machine' : far;
}
