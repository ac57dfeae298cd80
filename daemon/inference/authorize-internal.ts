import { type Decision, decide } from '../auth/gate.ts';
import type { Tier } from '../contract/auth.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Applies the access class of a route to a caller who was admitted through another route. Assumes the
 * strictest case for the caller's location.
 */
export function authorizeInternal(settings: Pick<Settings, 'value'>, route: RouteId, tier: Tier): Decision {
  return decide(ROUTES[route].auth, tier, {
    enforced: settings.value('requireAuth'),
    hasAdminKey: settings.value('adminKey').trim() !== '',
    // Affects admin and bootstrap routes only, and none of them can be called internally.
    unusableAdminKey: false,
    memoryClass: settings.value('memoryClass'),
    guarded: true,
    remote: true,
  });
}
