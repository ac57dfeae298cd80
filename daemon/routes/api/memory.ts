import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import type { MemoryAdd, MemorySearch } from '../../contract/system.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import { disconnectSignal } from '../disconnect-signal.ts';
import type { Handler, RouteContext } from '../handler.ts';
import { badQuery, Query } from '../query.ts';

const PAGE_SIZE = 100;
const MAX_OFFSET = 999_999_999;

/** The memory store. Its delete routes are admin, even when the memory rule is set to client. */
export function memoryRoutes(deps: RouteDeps) {
  const { memory } = deps;
  /** The audit trail records the number of deleted memories, never their text. */
  const removed = (ctx: RouteContext, what: 'one' | 'many' | 'all', deleted: number) => {
    audit(deps, ctx, 'memory.delete', { what, deleted });
    ctx.body = { deleted };
  };
  const add: Handler = (ctx) => {
    const { text, tags } = ctx.request.body as z.infer<typeof MemoryAdd>;
    ctx.body = memory.add(text, tags ?? [], ctx.state.caller.tier);
  };
  const search: Handler = async (ctx) => {
    const { query, limit } = ctx.request.body as z.infer<typeof MemorySearch>;
    const signal = disconnectSignal(ctx.res);
    ctx.body = await memory.search(query, limit ?? 20, { tier: ctx.state.caller.tier, signal });
  };
  const list: Handler = (ctx) => {
    const offset = new Query(ctx).whole('offset', { min: 0, max: MAX_OFFSET, absent: 0 });
    ctx.body = { memories: memory.list(PAGE_SIZE, offset) };
  };
  const get: Handler = (ctx) => {
    const found = memory.get(ctx.params.id ?? '');
    if (!found) throw new GatewayError('memory.not_found');
    ctx.body = found;
  };
  const removeOne: Handler = (ctx) => {
    if (!memory.remove(ctx.params.id ?? '')) throw new GatewayError('memory.not_found');
    removed(ctx, 'one', 1);
  };
  const removeMany: Handler = (ctx) => {
    const { ids } = ctx.request.body as { ids: string[] };
    removed(ctx, 'many', memory.removeMany(ids));
  };
  const removeAll: Handler = (ctx) => {
    if (new Query(ctx).text('confirm') !== 'all')
      throw badQuery('confirm', 'must be "all" to delete the whole store');
    removed(ctx, 'all', memory.removeAll());
  };
  return {
    'memory.add': add,
    'memory.search': search,
    'memory.list': list,
    'memory.get': get,
    'memory.delete.one': removeOne,
    'memory.delete.all': removeAll,
    'memory.delete.many': removeMany,
  } satisfies Record<string, Handler>;
}
