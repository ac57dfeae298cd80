import type { RequireView } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../settings/settings.ts';

/** Whether callers need a key (docs/spec/specification.md#enforcement). */
export interface Enforcement {
  /** Returns the current value and its source. */
  effective(): Pick<RequireView, 'require_auth' | 'source'>;
  /**
   * Persists the value. It applies to the next request unless the environment sets one, which always wins.
   * Throws `auth.no_admin_key` when turning it on without an admin key, and whatever `persist` throws;
   * nothing has changed then. The gate decides who may turn it off, because the route is admin.
   */
  set(on: boolean): Promise<RequireView>;
}

export interface EnforcementDeps {
  settings: Pick<Settings, 'resolve' | 'persist'>;
  hasAdminKey: () => boolean;
}

export function createEnforcement({ settings, hasAdminKey }: EnforcementDeps): Enforcement {
  const view = (): RequireView => {
    const { value, source, persisted } = settings.resolve('requireAuth');
    return { require_auth: value, persisted: persisted ?? null, source, applies_live: true };
  };
  return {
    effective() {
      const { value, source } = settings.resolve('requireAuth');
      return { require_auth: value, source };
    },
    async set(on) {
      if (on && !hasAdminKey()) throw new GatewayError('auth.no_admin_key');
      await settings.persist('requireAuth', on);
      return view();
    },
  };
}
