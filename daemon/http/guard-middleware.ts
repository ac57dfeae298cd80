import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { MatchedRoute } from '../contract/routes.ts';
import { originForm } from '../lib/net/request-target.ts';
import type { RouteMiddleware } from '../routes/handler.ts';
import { type Admitted, admit, type GuardDeps, guard, guardOrigin } from './guards.ts';
import { ALL_METHODS, corsHeaders, kindHeaders } from './headers.ts';
import { checkExpectation } from './send-continue.ts';

/** Checks expectation, framing and Host. From here on, a page of a listed origin may read the response. */
export function admitAllowingOrigins(deps: GuardDeps, req: IncomingMessage, res: ServerResponse): Admitted {
  checkExpectation(req);
  const admitted = admit(deps, req, false);
  const origin = deps.auth.corsOrigin(admitted.auth);
  if (origin !== null) corsHeaders(res, origin, req.method === 'OPTIONS');
  return admitted;
}

/**
 * Admits a request to its route. `OPTIONS` ends here and ignores the tier: 204 with a constant list; a foreign origin
 * gets 403.
 */
export function admitRequest(deps: GuardDeps): Middleware {
  return (ctx, next) => {
    const admitted = admitAllowingOrigins(deps, ctx.req, ctx.res);
    if (ctx.method === 'OPTIONS') {
      guardOrigin(deps, { ...admitted.auth, method: 'POST' });
      ctx.set('Allow', ALL_METHODS);
      ctx.status = 204;
      return;
    }
    Object.assign(ctx.state, admitted);
    ctx.url = originForm(admitted.target);
    return next();
  };
}

/** Origin, tier, class and limiter of the row that runs. Sets `ctx.state`. */
export function authorize(deps: GuardDeps, route: MatchedRoute): RouteMiddleware {
  return async (ctx, next) => {
    const { state } = ctx;
    const passed = guard(deps, state, { route, allow: [] }, state);
    Object.assign(state, passed instanceof Promise ? await passed : passed);
    kindHeaders(ctx.res, route.kind);
    return next();
  };
}

/** Refuses what no route has taken, after the checks of an admin route. */
export function refuseUnmatched(deps: GuardDeps): Middleware {
  return async (ctx) => {
    const layers: readonly { methods: string[] }[] = ctx.matched ?? [];
    const allow = [...new Set(layers.flatMap(({ methods }) => methods))];
    await guard(deps, ctx.state, { route: null, allow }, ctx.state);
  };
}
