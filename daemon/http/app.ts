import Koa, { type Middleware } from 'koa';
import { GatewayError } from '../contract/errors.ts';
import { type MatchedRoute, routeRows } from '../contract/routes.ts';
import { hasDotSegment } from '../lib/net/request-target.ts';
import type { Handler, Handlers, HttpRouteId, InferenceHandler } from '../routes/handler.ts';
import type { Drain } from './drain.ts';
import { type ErrorDeps, errors, type FailedRequests } from './error-envelope.ts';
import { admitRequest, authorize, refuseUnmatched } from './guard-middleware.ts';
import type { GuardDeps } from './guards.ts';
import { addRoute, createRouter } from './matcher.ts';
import { readBody } from './read-body.ts';

export interface AppDeps extends GuardDeps, ErrorDeps {
  handlers: Handlers;
}

/**
 * The Koa application: errors → drain → framing, Host, CORS → route with Origin, tier, class, limiter → body →
 * handler. A path without a route is refused last.
 */
export function createApp(deps: AppDeps, drain: Drain, failed: FailedRequests): Koa {
  const app = new Koa();
  // Koa reports here what it can no longer send, for example to a caller that has disconnected.
  app.on('error', (err: Error) => deps.log.debug({ err }, 'a response was not delivered'));
  const router = createRouter();
  for (const row of routeRows())
    addRoute(router, row, [authorize(deps, row), readBody(row), handlerOf(deps, row)]);
  const routes = router.routes() as Middleware;
  app.use(errors(deps, failed));
  app.use((ctx, next) => {
    drain.admit(ctx.req, ctx.res);
    return next();
  });
  app.use(admitRequest(deps));
  app.use((ctx, next) => (hasDotSegment(ctx.path) ? next() : routes(ctx, next)));
  app.use(refuseUnmatched(deps));
  return app;
}

function handlerOf({ handlers }: AppDeps, { id, kind }: MatchedRoute): Handler {
  const handler = handlers[id as HttpRouteId] as Handler | InferenceHandler | undefined;
  if (handler === undefined) return refuseWithoutUpgrade;
  if (kind !== 'inference') return handler as Handler;
  // It writes the response to `ctx.res` (`hot-path.ts`).
  return async (ctx) => {
    await (handler as InferenceHandler)(ctx);
    ctx.respond = false;
  };
}

/** Rows without a handler are WebSocket routes that were requested without an upgrade. */
const refuseWithoutUpgrade: Handler = () => {
  throw new GatewayError('request.malformed', {
    status: 426,
    message: 'This route requires a WebSocket upgrade.',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  });
};
