import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestsView, RequestWholeView } from '../../contract/system.ts';
import { allSteps } from '../../inference/dispatch/trace-view.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { badQuery, Query } from '../query.ts';

const MAX_ROWS = 1_000;

/** `/api/requests…`: running and ended requests. Content is included only when an admin enabled its capture. */
export function requestRoutes(deps: RouteDeps) {
  /** `?state=running|done&limit=&before=`; `before` is the id of the last request of the page before. */
  const list: Handler = (ctx) => {
    const query = new Query(ctx);
    const state = query.word('state', ['running', 'done']);
    const limit = query.whole('limit', { min: 1, max: MAX_ROWS, absent: 200 });
    const before = query.text('before');
    const running = state === 'done' || before !== null ? [] : deps.inference.running().slice(0, limit);
    const recent = state === 'running' ? [] : deps.store.requests.list(limit, before);
    if (recent === null) throw badQuery('before', 'is not a request of the log');
    const refused = state === 'running' || before !== null ? [] : deps.refusedRequests.list().slice(0, limit);
    ctx.body = { running, recent, refused } satisfies RequestsView;
  };
  const one: Handler = (ctx) => {
    ctx.body = findRequest(deps, ctx.params.id ?? '');
  };
  /** Cancels a running request and returns its current record. An ended request is returned as it is. */
  const cancel: Handler = async (ctx) => {
    const found = findRequest(deps, ctx.params.id ?? '');
    ctx.body = found;
    if (!deps.inference.cancel(found.id)) return;
    audit(deps, ctx, 'request.cancel', { request: found.id });
    // The call ends in this turn and is logged before the next one.
    await nextTurn();
    ctx.body = currentOrEarlier(deps, found);
  };
  return { requests: list, request: one, 'request.cancel': cancel } satisfies Record<string, Handler>;
}

/** Returns the current record of a request, or the given one when the log has no end for it. */
function currentOrEarlier(deps: RouteDeps, found: RequestWholeView): RequestWholeView {
  try {
    return findRequest(deps, found.id);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return found;
  }
}

/**
 * Returns one request with its story, including dispatch steps that were not tried, and its stored texts,
 * without any secret of the gateway.
 */
function findRequest(deps: RouteDeps, id: string): RequestWholeView {
  const found = deps.inference.request(id) ?? deps.store.requests.get(id) ?? deps.refusedRequests.find(id);
  if (!found) throw new GatewayError('request.not_found');
  const { story } = found;
  const bodies = redactSecretsIn(deps.inference.bodies(found.id), deps.settings.secrets());
  if (story === null || story.steps.length === 0) return { ...found, bodies };
  return { ...found, bodies, story: { ...story, steps: allSteps(story.steps) } };
}
