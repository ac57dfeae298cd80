import { GatewayError } from '../../contract/errors.ts';
import { HOPS_HEADER, INSTANCE_HEADER } from '../../upstreams/hops.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/** Longer model ids are not looked up. */
const MAX_ID_BYTES = 512;

const commaList = (value: string): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');

/** `GET /v1/models` and `/v1/models/{model_id}`: from memory, without waiting for upstreams. */
export function modelRoutes(deps: RouteDeps) {
  const list: Handler = (ctx, call) => {
    if (ctx.req.headers[HOPS_HEADER] !== undefined)
      ctx.res.setHeader(INSTANCE_HEADER, deps.upstreams.instance);
    const query = new URLSearchParams(call.target.query);
    const showAll = ['true', '1'].includes((query.get('show_all') ?? '').toLowerCase());
    const header = ctx.req.headers['x-svc-model-filter'];
    const filters = [typeof header === 'string' ? header : null, query.get('owned_by')];
    return deps.inference.models({ showAll, owners: filters.filter((each) => each !== null).map(commaList) });
  };
  const one: Handler = (_ctx, call) => {
    const id = call.params.model_id ?? '';
    const found = Buffer.byteLength(id) <= MAX_ID_BYTES ? deps.inference.model(id) : undefined;
    if (!found) throw new GatewayError('model.not_found', { param: 'model' });
    return found;
  };
  return { 'v1.models': list, 'v1.model': one } satisfies Record<string, Handler>;
}
