import type { RequireView } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../settings/settings.ts';

/** Whether callers need a key (docs/spec/specification.md#enforcement). */
export interface Enforcement {
  /** The effective value and where it comes from, read anew. */
  effective(): Pick<RequireView, 'require_auth' | 'source'>;
  /**
   * Persists the value; effective for the next request unless the environment holds one, which always wins. Throws
   * `auth.no_admin_key` for turning it on without an admin key, and whatever `persist` throws; then nothing has
   * changed. Who may turn it off is decided by the gate, because the route is admin.
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
