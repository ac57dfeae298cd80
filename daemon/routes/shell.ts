import { GatewayError } from '../contract/errors.ts';
import { refuseBaseUrl } from './base-urls.ts';
import type { RouteDeps } from './deps.ts';
import type { Handler, RouteContext } from './handler.ts';

/** The static shell of the dashboard: an exact path of the build, else the one page that routes itself. */
export function shellRoutes(deps: RouteDeps) {
  const send = (ctx: RouteContext, path: string) => {
    const file = deps.dashboard.get(path);
    if (!file) {
      throw new GatewayError('route.not_found', {
        message: path === '/index.html' ? 'The dashboard is not built. Run npm run build.' : undefined,
      });
    }
    ctx.set('Content-Type', file.type);
    ctx.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (file.gzip !== null) {
      ctx.vary('Accept-Encoding');
      if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') ctx.set('Content-Encoding', 'gzip');
    }
    ctx.body = ctx.response.get('Content-Encoding') === 'gzip' ? file.gzip : file.bytes;
  };
  const page: Handler = (ctx) => send(ctx, '/index.html');
  /** `/models` is also the model list of a client whose base URL lacks `/v1`; only browsers ask for HTML. */
  const models: Handler = (ctx) =>
    ctx.req.headers.accept?.includes('text/html') ? send(ctx, '/index.html') : refuseBaseUrl(deps, ctx.state);
  const exact: Handler = (ctx) => send(ctx, ctx.path);
  /** A missing asset is not a route: only callers that may see everything get 404. */
  const asset: Handler = (ctx) => {
    const { caller, auth } = ctx.state;
    const verdict = deps.dashboard.has(ctx.path) ? 'pass' : deps.auth.decide('admin', caller, auth);
    if (verdict !== 'pass') throw new GatewayError(verdict);
    send(ctx, ctx.path);
  };
  return {
    'ui.root': page,
    'ui.login': page,
    'ui.setup': page,
    'ui.overview': page,
    'ui.playground': page,
    'ui.playground.mode': page,
    'ui.slots': page,
    'ui.slots.tab': page,
    'ui.models': models,
    'ui.models.tab': models,
    'ui.memory': page,
    'ui.requests': page,
    'ui.requests.tab': page,
    'ui.hardware': page,
    'ui.security': page,
    'ui.security.tab': page,
    'ui.settings': page,
    'ui.settings.tab': page,
    'ui.asset': asset,
    'ui.favicon.svg': exact,
    'ui.favicon.ico': (ctx) =>
      send(ctx, deps.dashboard.has('/favicon.ico') ? '/favicon.ico' : '/favicon.svg'),
    'ui.manifest': exact,
  } satisfies Record<string, Handler>;
}
