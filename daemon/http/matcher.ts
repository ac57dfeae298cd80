import { createRequire } from 'node:module';
import { type MatchedRoute, routeRows } from '../contract/routes.ts';
import { hasDotSegment } from '../lib/net/request-target.ts';

// Its ES module entry loads all of Node's `http` through getters (`lib/net/node-http`). The CommonJS entry
// does not.
const { Router } = createRequire(import.meta.url)('@koa/router') as typeof import('@koa/router');

export interface Match {
  /** The row that will run; null when none does. */
  readonly route: MatchedRoute | null;
  readonly params: Readonly<Record<string, string>>;
  /** Methods of the path; empty when no route has this path. */
  readonly allow: readonly string[];
}

export type Matcher = (method: string, path: string) => Match;

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const NONE: Match = Object.freeze({ route: null, params: NO_PARAMS, allow: [] });
const NOTHING = async () => {};

/** Compares methods as sent; the router would ignore their case. */
const acceptsMethod = (row: MatchedRoute, method: string): boolean =>
  method === row.method || (method === 'HEAD' && row.method === 'GET');

/**
 * The only matcher: the class and the handler come from the same row. Case-sensitive, strict about slashes;
 * `HEAD` runs the row of `GET`. Fixed paths are cached, so that patterns are tried only for paths with
 * parameters.
 */
export function createMatcher(rows: readonly MatchedRoute[] = routeRows()): Matcher {
  const router = new Router({ sensitive: true, strict: true });
  const byName = new Map<string, MatchedRoute>();
  for (const row of rows) {
    byName.set(row.id, row);
    router.register(row.path, [row.method], NOTHING, { name: row.id });
  }
  const slow = (method: string, path: string): Match => {
    if (hasDotSegment(path)) return NONE;
    const found = router.match(path, method);
    const layer = found.pathAndMethod[0];
    const allow = [...new Set(found.path.flatMap((each) => each.methods))];
    if (!layer) return allow.length === 0 ? NONE : { route: null, params: NO_PARAMS, allow };
    const route = byName.get(String(layer.name));
    if (!route || !acceptsMethod(route, method)) return { route: null, params: NO_PARAMS, allow };
    return { route, params: layer.params(path, layer.captures(path), {}), allow };
  };
  const fixed = new Map<string, Map<string, Match>>();
  const addFixedPath = (method: string, path: string) => {
    const paths = fixed.get(method) ?? new Map<string, Match>();
    fixed.set(method, paths.set(path, slow(method, path)));
  };
  for (const row of rows) {
    if (/[:*]/.test(row.path)) continue;
    addFixedPath(row.method, row.path);
    if (row.method === 'GET') addFixedPath('HEAD', row.path);
  }
  return (method, path) => fixed.get(method)?.get(path) ?? slow(method, path);
}
