import { createRequire } from 'node:module';
import type { Router as KoaRouter, RouterMiddleware } from '@koa/router';
import { type MatchedRoute, routeRows } from '../contract/routes.ts';
import { hasDotSegment } from '../lib/net/request-target.ts';
import type { Call } from '../routes/handler.ts';

// Its ES module entry loads all of Node's `http` through getters (`lib/net/node-http`). The CommonJS entry
// does not.
const { Router } = createRequire(import.meta.url)('@koa/router') as typeof import('@koa/router');

/** The router of all routes: case-sensitive, strict about slashes; `HEAD` runs the row of `GET`. */
export const createRouter = (): KoaRouter => new Router({ sensitive: true, strict: true });

const VERBS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/** Adds a row under its id. */
export const addRoute = (router: KoaRouter, row: MatchedRoute, stack: RouterMiddleware<Call>[]) =>
  router[VERBS[row.method]](row.id, row.path, ...(stack as RouterMiddleware[]));

export interface Match {
  /** The row that will run; null when none does. */
  readonly route: MatchedRoute | null;
  readonly params: Readonly<Record<string, string>>;
  /** Methods of the path; empty when no route has this path. */
  readonly allow: readonly string[];
}

export type Matcher = (method: string, path: string) => Match;

const NOTHING = async () => {};

/** Compares methods as sent; the router would ignore their case. */
const acceptsMethod = (row: MatchedRoute, method: string): boolean =>
  method === row.method || (method === 'HEAD' && row.method === 'GET');

/**
 * Returns the row that the router runs, for requests that Koa does not see: upgrades are decided before their
 * handshake.
 */
export function createMatcher(rows: readonly MatchedRoute[] = routeRows()): Matcher {
  const router = createRouter();
  const byName = new Map(rows.map((row) => [row.id as string, row]));
  for (const row of rows) addRoute(router, row, [NOTHING]);
  return (method, path) => {
    const found = router.match(hasDotSegment(path) ? '' : path, method);
    const layer = found.pathAndMethod[0];
    const allow = [...new Set(found.path.flatMap((each) => each.methods))];
    const route = byName.get(String(layer?.name));
    if (!layer || !route || !acceptsMethod(route, method)) return { route: null, params: {}, allow };
    return { route, params: layer.params(path, layer.captures(path), {}), allow };
  };
}
