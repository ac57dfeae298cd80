import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

const PAGE = 100;

/** The memory store; its delete routes are admin whatever the generic memory rule is widened to. */
export function memoryRoutes(deps: RouteDeps) {
  const { memory } = deps;
  const add: Handler = (_ctx, call, body) => {
    const { text, tags } = body as { text: string; tags?: string[] };
    return memory.add(text, tags ?? [], call.caller.tier);
  };
  const search: Handler = async (ctx, call, body) => {
    const { query, limit } = body as { query: string; limit?: number };
    const left = new AbortController();
    ctx.res.once('close', () => left.abort());
    return memory.search(query, limit ?? 20, { tier: call.caller.tier, signal: left.signal });
  };
  const list: Handler = (_ctx, call) => {
    const offset = Number(new URLSearchParams(call.target.query).get('offset') ?? 0);
    return { memories: memory.list(PAGE, Number.isSafeInteger(offset) && offset > 0 ? offset : 0) };
  };
  const get: Handler = (_ctx, call) => {
    const found = memory.get(call.params.id ?? '');
    if (!found) throw new GatewayError('memory.not_found');
    return found;
  };
  const removeOne: Handler = (_ctx, call) => {
    if (!memory.remove(call.params.id ?? '')) throw new GatewayError('memory.not_found');
    return { deleted: 1 };
  };
  const removeAll: Handler = (_ctx, call) => {
    if (new URLSearchParams(call.target.query).get('confirm') !== 'all') {
      const fields = [{ path: 'confirm', reason: 'must be "all" to delete the whole store' }];
      throw new GatewayError('request.invalid', { details: { fields } });
    }
    return { deleted: memory.removeAll() };
  };
  return {
    'memory.add': add,
    'memory.search': search,
    'memory.list': list,
    'memory.get': get,
    'memory.delete.one': removeOne,
    'memory.delete.all': removeAll,
    'memory.delete.many': (_ctx, _call, body) => ({
      deleted: memory.removeMany((body as { ids: string[] }).ids),
    }),
  } satisfies Record<string, Handler>;
}
