import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { Query } from '../query.ts';

/** The saved states of conversations. The audit trail records how many were deleted, never what they contain. */
export function kvCacheRoutes(deps: RouteDeps) {
  const { kvCache } = deps;
  return {
    'kv-cache': (ctx) => {
      ctx.body = kvCache.view();
    },
    'kv-cache.clear': (ctx) => {
      const model = new Query(ctx).text('model');
      const cleared = kvCache.clear(model ?? null);
      audit(deps, ctx, 'kv_cache.clear', { model: model ?? 'all', ...cleared });
      ctx.body = cleared;
    },
  } satisfies Record<string, Handler>;
}
