import type { LoginBody } from '../../contract/auth.ts';
import { GatewayError } from '../../contract/errors.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyCall as Call, LegacyHandler as Handler } from '../handler.ts';

/**
 * The routes of docs/spec/specification.md#auth-routes. `auth` writes audit rows and events where the action
 * happens.
 */
export function authRoutes({ auth }: RouteDeps) {
  const actor = (call: Call) => ({ tier: call.caller.tier, address: auth.address(call.auth) });

  const login: Handler = (ctx, call, body) => {
    const { setCookie } = auth.login((body as LoginBody).key, call.auth);
    ctx.res.setHeader('set-cookie', setCookie);
    return { ok: true, tier: 'admin' };
  };

  const logout: Handler = (ctx, call) => {
    const { setCookie } = auth.logout(call.auth);
    ctx.res.setHeader('set-cookie', setCookie);
    return { ok: true };
  };

  /**
   * Turning enforcement off requires an admin; turning it on does not while it is off
   * (docs/spec/contract.md#enabling-without-admin).
   */
  const requireAuth: Handler = (_ctx, call, body) => {
    const { require_auth: on } = body as { require_auth: boolean };
    if (!on && auth.enforcement().require_auth && call.caller.tier !== 'admin')
      throw new GatewayError('auth.required');
    return configWrite(() => auth.requireAuth(on, actor(call)));
  };

  return {
    'auth.login': login,
    'auth.logout': logout,
    'auth.status': (_ctx, call) => auth.status(call.caller),
    'auth.require': requireAuth,
    'auth.rotate': (_ctx, call, body) =>
      auth.rotate((body as { tier: 'admin' | 'client' }).tier, actor(call)),
    'auth.exposure': () => auth.exposure(),
    'auth.sessions': (_ctx, call) => auth.sessions(call.caller),
    'auth.sessions.end': async (_ctx, call) => {
      await configWrite(() => auth.endSessions(actor(call)));
      return { ok: true };
    },
  } satisfies Record<string, Handler>;
}
