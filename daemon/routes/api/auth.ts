import type { LoginBody } from '../../contract/auth.ts';
import { GatewayError } from '../../contract/errors.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler, RouteContext } from '../handler.ts';

/**
 * The routes of docs/spec/specification.md#auth-routes. `auth` writes audit rows and events where the action
 * happens.
 */
export function authRoutes({ auth }: RouteDeps) {
  const actor = ({ state }: RouteContext) => ({
    tier: state.caller.tier,
    address: auth.address(state.auth),
  });

  const login: Handler = (ctx) => {
    const { key } = ctx.request.body as LoginBody;
    ctx.set('Set-Cookie', auth.login(key, ctx.state.auth).setCookie);
    ctx.body = { ok: true, tier: 'admin' };
  };

  const logout: Handler = (ctx) => {
    ctx.set('Set-Cookie', auth.logout(ctx.state.auth).setCookie);
    ctx.body = { ok: true };
  };

  /**
   * Turning enforcement off requires an admin; turning it on does not while it is off
   * (docs/spec/contract.md#enabling-without-admin).
   */
  const requireAuth: Handler = async (ctx) => {
    const { require_auth: on } = ctx.request.body as { require_auth: boolean };
    if (!on && auth.enforcement().require_auth && ctx.state.caller.tier !== 'admin')
      throw new GatewayError('auth.required');
    ctx.body = await configWrite(() => auth.requireAuth(on, actor(ctx)));
  };

  const rotate: Handler = async (ctx) => {
    const { tier } = ctx.request.body as { tier: 'admin' | 'client' };
    ctx.body = await auth.rotate(tier, actor(ctx));
  };

  const endSessions: Handler = async (ctx) => {
    await configWrite(() => auth.endSessions(actor(ctx)));
    ctx.body = { ok: true };
  };

  return {
    'auth.login': login,
    'auth.logout': logout,
    'auth.status': (ctx) => {
      ctx.body = auth.status(ctx.state.caller);
    },
    'auth.require': requireAuth,
    'auth.rotate': rotate,
    'auth.exposure': (ctx) => {
      ctx.body = auth.exposure();
    },
    'auth.sessions': (ctx) => {
      ctx.body = auth.sessions(ctx.state.caller);
    },
    'auth.sessions.end': endSessions,
  } satisfies Record<string, Handler>;
}
