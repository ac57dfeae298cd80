import type { SetupApplyBody } from '../../contract/setup.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';

/**
 * `/api/setup…` (bootstrap class): the first run. It can change what the schema permits, never a key or
 * enforcement.
 */
export function setupRoutes(deps: RouteDeps) {
  return {
    setup: () => deps.setup.view(),
    'setup.probe': () => deps.setup.probe(),
    'setup.apply': async (_ctx, call, body) => {
      const wanted = body as SetupApplyBody;
      const view = await deps.setup.apply(wanted);
      audit(deps, call, 'setup.apply', wanted);
      return view;
    },
  } satisfies Record<string, Handler>;
}
