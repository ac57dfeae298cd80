import type { SetupApplyBody } from '../../contract/setup.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/**
 * `/api/setup…` (bootstrap class): the first run. It can change what the schema permits, never a key or
 * enforcement.
 */
export function setupRoutes(deps: RouteDeps) {
  return {
    setup: async (ctx) => {
      ctx.body = await deps.setup.view();
    },
    'setup.probe': async (ctx) => {
      ctx.body = await deps.setup.probe();
    },
    'setup.apply': async (ctx) => {
      const wanted = ctx.request.body as SetupApplyBody;
      ctx.body = await deps.setup.apply(wanted);
      audit(deps, ctx, 'setup.apply', wanted);
    },
  } satisfies Record<string, Handler>;
}
