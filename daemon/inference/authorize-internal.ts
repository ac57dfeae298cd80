import { type Decision, decide } from '../auth/gate.ts';
import type { Tier } from '../contract/auth.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * The class of a route, judged for callers who have passed the door of another one: by the strictest reading of where
 * they are.
 */
export function authorizeInternal(settings: Pick<Settings, 'value'>, route: RouteId, tier: Tier): Decision {
  return decide(ROUTES[route].auth, tier, {
    enforced: settings.value('requireAuth'),
    hasAdminKey: settings.value('adminKey').trim() !== '',
    // It matters on admin and bootstrap routes alone, and none of them is called from inside.
    unusableAdminKey: false,
    memoryClass: settings.value('memoryClass'),
    guarded: true,
    remote: true,
  });
}
