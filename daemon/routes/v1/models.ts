import { GatewayError } from '../../contract/errors.ts';
import {
  anthropicModel,
  anthropicModelList,
  codexModels,
  type ModelPage,
} from '../../inference/model-lists.ts';
import { HOPS_HEADER, INSTANCE_HEADER } from '../../upstreams/hops.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler, RouteContext } from '../handler.ts';
import { Query } from '../query.ts';

/** Longer model ids are not looked up. */
const MAX_ID_BYTES = 512;
/** Maximum models of a page of Anthropic's list; clients that do not follow pages get all of them. */
const MAX_PAGE = 1000;

const commaList = (value: string): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');

/** Every client of Anthropic's API sends this header, and no other does. */
const isAnthropic = (ctx: RouteContext): boolean => ctx.req.headers['anthropic-version'] !== undefined;

function pageOf(ctx: RouteContext): ModelPage {
  const query = new Query(ctx);
  return {
    limit: query.whole('limit', { min: 1, max: MAX_PAGE, absent: MAX_PAGE }),
    afterId: query.text('after_id'),
    beforeId: query.text('before_id'),
  };
}

/**
 * `GET /v1/models` and `/v1/models/{model_id}`: from memory, without waiting for upstreams. The form is that of
 * the caller's API (docs/spec/contract.md#models-dialects).
 */
export function modelRoutes(deps: RouteDeps) {
  const list: Handler = (ctx) => {
    if (ctx.req.headers[HOPS_HEADER] !== undefined) ctx.set(INSTANCE_HEADER, deps.upstreams.instance);
    const query = new URLSearchParams(ctx.querystring);
    const showAll = ['true', '1'].includes((query.get('show_all') ?? '').toLowerCase());
    const header = ctx.req.headers['x-svc-model-filter'];
    const filters = [typeof header === 'string' ? header : null, query.get('owned_by')];
    const found = deps.inference.models({
      showAll,
      owners: filters.filter((each) => each !== null).map(commaList),
    });
    if (isAnthropic(ctx)) ctx.body = anthropicModelList(found.data, pageOf(ctx));
    else ctx.body = query.has('client_version') ? { ...found, models: codexModels(found.data) } : found;
  };
  const one: Handler = (ctx) => {
    const id = ctx.params.model_id ?? '';
    const found = Buffer.byteLength(id) <= MAX_ID_BYTES ? deps.inference.model(id) : undefined;
    if (!found) throw new GatewayError('model.not_found', { param: 'model' });
    ctx.body = isAnthropic(ctx) ? anthropicModel(found) : found;
  };
  return { 'v1.models': list, 'v1.model': one } satisfies Record<string, Handler>;
}
