import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { invalidRequest } from '../../contract/invalid-request.ts';
import type { HubModelView, PullBody } from '../../contract/pulls.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyCall as Call, LegacyHandler as Handler } from '../handler.ts';

const MAX_RESULTS = 20;
const MAX_QUERY_LENGTH = 200;
const SEARCHES = { max: 64, ttl: 5 * 60_000 };

/** Aborted when the caller disconnects before the response. */
function abortOnDisconnect(res: ServerResponse): AbortSignal {
  const control = new AbortController();
  res.on('close', () => {
    if (!res.writableEnded) control.abort(new DOMException('the caller has left', 'AbortError'));
  });
  return control.signal;
}

/** `/api/pulls…`, `/api/models/pull` and `/api/models/search`: models from the hub. */
export function pullRoutes(deps: RouteDeps) {
  const { pulls, hub } = deps;
  const searches = new LRUCache<string, HubModelView[]>(SEARCHES);
  const audit = (call: Call, action: string, details: Record<string, unknown>) =>
    deps.store.audit.add({
      action: `pull.${action}`,
      tier: call.caller.tier,
      address: deps.auth.address(call.auth),
      details,
    });
  const verb =
    (action: 'pause' | 'resume' | 'cancel'): Handler =>
    async (_ctx, call) => {
      const id = call.params.id ?? '';
      const view = await pulls[action](id);
      audit(call, action, { pull: id, repo: view.repo });
      return view;
    };
  return {
    pulls: () => ({ pulls: pulls.list() }),
    'pull.pause': verb('pause'),
    'pull.resume': verb('resume'),
    'pull.cancel': verb('cancel'),
    'model.pull': async (ctx, call, body) => {
      const view = await pulls.create(body as PullBody, abortOnDisconnect(ctx.res));
      audit(call, 'create', { pull: view.id, repo: view.repo, file: view.file, revision: view.revision });
      return view;
    },
    'model.search': async (ctx, call) => {
      const query = (new URLSearchParams(call.target.query).get('q') ?? '').trim();
      if (query === '' || query.length > MAX_QUERY_LENGTH) {
        const reason = `must be a text of at most ${MAX_QUERY_LENGTH} characters`;
        throw invalidRequest([{ path: 'q', reason }]);
      }
      const key = `${hub.endpoint().url} ${query.toLowerCase()}`;
      const known = searches.get(key);
      const results = known ?? (await hub.search(query, MAX_RESULTS, abortOnDisconnect(ctx.res)));
      if (known === undefined) searches.set(key, results);
      return { results };
    },
  } satisfies Record<string, Handler>;
}
