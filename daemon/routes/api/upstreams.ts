import { join } from 'node:path';
import { upstreamNotFound } from '../../contract/not-found.ts';
import {
  type UpstreamCreateBody,
  UpstreamName,
  type UpstreamPutBody,
  type UpstreamRecord,
} from '../../contract/upstreams.ts';
import { ifMatchGuard } from '../../settings/revision.ts';
import { changeUpstreamFile, createUpstreamFile, removeUpstreamFile } from '../../upstreams/edit-upstream.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyCall as Call, LegacyHandler as Handler } from '../handler.ts';

/**
 * `/api/upstreams…`: other servers that serve models. Address and key variable are for administrators only. A
 * key is never returned.
 */
export function upstreamRoutes(deps: RouteDeps) {
  const { upstreams } = deps;
  const folder = join(deps.settings.folders.config, 'upstreams');
  const nameOf = (call: Call): string => {
    const name = call.params.name ?? '';
    if (!upstreams.config(name)) throw upstreamNotFound(name);
    return name;
  };
  /** Returns the name of a file, which may be broken and therefore have no upstream. */
  const fileOf = (call: Call): string => {
    const name = UpstreamName.safeParse(call.params.name);
    if (!name.success) throw upstreamNotFound(call.params.name ?? '');
    return name.data;
  };
  const audit = (call: Call, action: string, details: Record<string, unknown>) =>
    deps.store.audit.add({
      action: `upstream.${action}`,
      tier: call.caller.tier,
      address: deps.auth.address(call.auth),
      details,
    });
  /** Reloads the files and returns the new record. */
  const reloadedRecord = (name: string): UpstreamRecord => {
    upstreams.reload();
    const detail = upstreams.detail(name);
    if (!detail) throw upstreamNotFound(name);
    return detail;
  };
  const reload = () => upstreams.reload();
  const isAdmin = (call: Call) => deps.auth.decide('admin', call.caller, call.auth) === 'pass';
  return {
    upstreams: (_ctx, call) => ({ upstreams: isAdmin(call) ? details(deps) : upstreams.views() }),
    upstream: (_ctx, call) => upstreams.detail(nameOf(call)),
    'upstream.create': async (_ctx, call, body) => {
      const wanted = body as UpstreamCreateBody;
      await configWrite(() => createUpstreamFile(folder, wanted, upstreams.views().length));
      audit(call, 'create', { upstream: wanted.name, fields: Object.keys(wanted) });
      return reloadedRecord(wanted.name);
    },
    'upstream.put': async (ctx, call, body) => {
      const name = fileOf(call);
      const wanted = body as UpstreamPutBody;
      const guard = ifMatchGuard(ctx.req.headers['if-match']);
      await configWrite(() => changeUpstreamFile(folder, name, wanted, guard), reload);
      audit(call, 'change', { upstream: name, fields: Object.keys(wanted) });
      return reloadedRecord(name);
    },
    'upstream.remove': async (ctx, call) => {
      const name = fileOf(call);
      const guard = ifMatchGuard(ctx.req.headers['if-match']);
      await configWrite(() => removeUpstreamFile(folder, name, guard), reload);
      audit(call, 'remove', { upstream: name });
      upstreams.reload();
      return { removed: name };
    },
    'upstream.test': async (ctx, call, body) => {
      const name = nameOf(call);
      const { model } = (body ?? {}) as { model?: string };
      audit(call, 'test', { upstream: name });
      const steps = await deps.inference.tryUpstream(name, model ?? null, call.id, ctx.res);
      return { ok: steps.every(({ ok }) => ok), steps, upstream: upstreams.detail(name) };
    },
  } satisfies Record<string, Handler>;
}

/** Every upstream as administrators see it, without the ids of its models. */
const details = ({ upstreams }: RouteDeps): UpstreamRecord[] =>
  upstreams.views().map((view) => {
    const { model_ids: _, ...detail } = upstreams.detail(view.name) ?? view;
    return detail;
  });
