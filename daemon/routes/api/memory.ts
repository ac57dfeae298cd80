import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import type { MemoryAdd, MemorySearch } from '../../contract/system.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyCall as Call, LegacyHandler as Handler } from '../handler.ts';
import { badQuery, Query } from '../query.ts';

const PAGE_SIZE = 100;
const MAX_OFFSET = 999_999_999;

/** The memory store. Its delete routes are admin, even when the memory rule is set to client. */
export function memoryRoutes(deps: RouteDeps) {
  const { memory } = deps;
  /** The audit trail records the number of deleted memories, never their text. */
  const removed = (call: Call, what: 'one' | 'many' | 'all', deleted: number) => {
    audit(deps, call, 'memory.delete', { what, deleted });
    return { deleted };
  };
  const add: Handler = (_ctx, call, body) => {
    const { text, tags } = body as z.infer<typeof MemoryAdd>;
    return memory.add(text, tags ?? [], call.caller.tier);
  };
  const search: Handler = async (ctx, call, body) => {
    const { query, limit } = body as z.infer<typeof MemorySearch>;
    const abort = new AbortController();
    ctx.res.once('close', () => abort.abort());
    return memory.search(query, limit ?? 20, { tier: call.caller.tier, signal: abort.signal });
  };
  const list: Handler = (_ctx, call) => {
    const offset = new Query(call).whole('offset', { min: 0, max: MAX_OFFSET, absent: 0 });
    return { memories: memory.list(PAGE_SIZE, offset) };
  };
  const get: Handler = (_ctx, call) => {
    const found = memory.get(call.params.id ?? '');
    if (!found) throw new GatewayError('memory.not_found');
    return found;
  };
  const removeOne: Handler = (_ctx, call) => {
    if (!memory.remove(call.params.id ?? '')) throw new GatewayError('memory.not_found');
    return removed(call, 'one', 1);
  };
  const removeAll: Handler = (_ctx, call) => {
    if (new Query(call).text('confirm') !== 'all')
      throw badQuery('confirm', 'must be "all" to delete the whole store');
    return removed(call, 'all', memory.removeAll());
  };
  return {
    'memory.add': add,
    'memory.search': search,
    'memory.list': list,
    'memory.get': get,
    'memory.delete.one': removeOne,
    'memory.delete.all': removeAll,
    'memory.delete.many': (_ctx, call, body) =>
      removed(call, 'many', memory.removeMany((body as { ids: string[] }).ids)),
  } satisfies Record<string, Handler>;
}
