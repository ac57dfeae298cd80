import type { RequestListener } from 'node:http';
import { type MatchedRoute, routeRows } from '../contract/routes.ts';
import type { Handlers, InferenceHandler, InferenceRouteId } from '../routes/handler.ts';
import { checkDeclared } from './body-limits.ts';
import type { Drain } from './drain.ts';
import { type ErrorDeps, type FailedRequests, startRequest } from './error-envelope.ts';
import { admitAllowingOrigins } from './guard-middleware.ts';
import { type GuardDeps, guard } from './guards.ts';

export interface HotPathDeps extends GuardDeps, ErrorDeps {
  handlers: Pick<Handlers, InferenceRouteId>;
}

/**
 * Inference requests, before Koa. The guards and the handler are those of the route; the handler writes the response
 * to `res`. Only a `POST` to the exact path is taken: any other form of the request, for example one with a query, has
 * the same route in Koa. Errors are handed to Koa, so that one middleware writes all of them.
 *
 * In Koa, with a map before the router, a small chat costs 1.12 times as much
 * (docs/adr/0059-koa-as-designed-with-one-shortcut.md).
 */
export function hotPath(
  deps: HotPathDeps,
  drain: Drain,
  failed: FailedRequests,
  koa: RequestListener,
): RequestListener {
  const routes = new Map<string | undefined, MatchedRoute>();
  for (const row of routeRows()) if (row.kind === 'inference') routes.set(row.path, row);
  return (req, res) => {
    const route = req.method === 'POST' ? routes.get(req.url) : undefined;
    if (route === undefined) return koa(req, res);
    const started = startRequest(deps, res);
    const serve = async () => {
      drain.admit(req, res);
      const passed = guard(deps, admitAllowingOrigins(deps, req, res), { route, allow: [] }, started);
      const state = passed instanceof Promise ? await passed : passed;
      checkDeclared(req, route.body);
      const handler: InferenceHandler = deps.handlers[route.id as InferenceRouteId];
      await handler({ req, res, state });
    };
    serve().catch((error: unknown) => {
      failed.set(req, { started, error });
      koa(req, res);
    });
  };
}
