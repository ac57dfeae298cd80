import { LRUCache } from 'lru-cache';
import type { HubModelView, PullBody } from '../../contract/pulls.ts';
import { hubChoices } from '../../models/hub/hub-choices.ts';
import { parseModel, searchWords } from '../../models/pulls/pull-name.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import { disconnectSignal } from '../disconnect-signal.ts';
import type { Handler } from '../handler.ts';
import { badQuery } from '../query.ts';

const MAX_RESULTS = 20;
const MAX_QUERY_LENGTH = 200;
const SEARCHES = { max: 64, ttl: 5 * 60_000 };

/** `/api/pulls…` and `/api/models/pull`, `search` and `choices`: models from the hub. */
export function pullRoutes(deps: RouteDeps) {
  const { pulls, hub, catalog, headers, slots } = deps;
  const searches = new LRUCache<string, HubModelView[]>(SEARCHES);
  const nameOptions = () => ({ hubUrl: hub.endpoint().url, entries: catalog.entries() });
  const verb =
    (action: 'pause' | 'resume' | 'cancel'): Handler =>
    async (ctx) => {
      const view = await pulls[action](ctx.params.id ?? '');
      audit(deps, ctx, `pull.${action}`, { pull: view.id, repo: view.repo });
      ctx.body = view;
    };
  const create: Handler = async (ctx) => {
    const view = await pulls.create(ctx.request.body as PullBody, disconnectSignal(ctx.res));
    const { id, repo, file, revision } = view;
    audit(deps, ctx, 'pull.create', { pull: id, repo, file, revision });
    ctx.body = view;
  };
  const search: Handler = async (ctx) => {
    const query = (new URLSearchParams(ctx.querystring).get('q') ?? '').trim();
    if (query === '' || query.length > MAX_QUERY_LENGTH)
      throw badQuery('q', `must be a text of at most ${MAX_QUERY_LENGTH} characters`);
    const words = searchWords(query, nameOptions());
    const key = `${hub.endpoint().url} ${words.toLowerCase()}`;
    const results = searches.get(key) ?? (await hub.search(words, MAX_RESULTS, disconnectSignal(ctx.res)));
    searches.set(key, results);
    ctx.body = { results };
  };
  const choices: Handler = async (ctx) => {
    const name = new URLSearchParams(ctx.querystring).get('repo') ?? '';
    const { repo, revision } = parseModel(name, nameOptions());
    const signal = disconnectSignal(ctx.res);
    const found = await hub.repo(repo, revision ?? 'HEAD', signal);
    ctx.body = await hubChoices(found, { catalog, headers, fitOf: (model) => slots.fit(model) }, signal);
  };
  return {
    pulls: (ctx) => {
      ctx.body = { pulls: pulls.list() };
    },
    'pull.pause': verb('pause'),
    'pull.resume': verb('resume'),
    'pull.cancel': verb('cancel'),
    'model.pull': create,
    'model.search': search,
    'model.choices': choices,
  } satisfies Record<string, Handler>;
}
