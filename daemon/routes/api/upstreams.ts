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
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler, RouteContext } from '../handler.ts';

/**
 * `/api/upstreams…`: other servers that serve models. Address and key variable are for administrators only. A
 * key is never returned.
 */
export function upstreamRoutes(deps: RouteDeps) {
  const { upstreams } = deps;
  const folder = join(deps.settings.folders.config, 'upstreams');
  const nameOf = ({ params }: RouteContext): string => {
    const name = params.name ?? '';
    if (!upstreams.config(name)) throw upstreamNotFound(name);
    return name;
  };
  /** Returns the name of a file, which may be broken and therefore have no upstream. */
  const fileOf = ({ params }: RouteContext): string => {
    const name = UpstreamName.safeParse(params.name);
    if (!name.success) throw upstreamNotFound(params.name ?? '');
    return name.data;
  };
  /** Reloads the files and returns the new record. */
  const reloadedRecord = (name: string): UpstreamRecord => {
    upstreams.reload();
    const detail = upstreams.detail(name);
    if (!detail) throw upstreamNotFound(name);
    return detail;
  };
  const reload = () => upstreams.reload();
  const isAdmin = ({ state }: RouteContext) => deps.auth.decide('admin', state.caller, state.auth) === 'pass';
  const list: Handler = (ctx) => {
    ctx.body = { upstreams: isAdmin(ctx) ? details(deps) : upstreams.views() };
  };
  const get: Handler = (ctx) => {
    ctx.body = upstreams.detail(nameOf(ctx));
  };
  const create: Handler = async (ctx) => {
    const wanted = ctx.request.body as UpstreamCreateBody;
    await configWrite(() => createUpstreamFile(folder, wanted, upstreams.views().length));
    audit(deps, ctx, 'upstream.create', { upstream: wanted.name, fields: Object.keys(wanted) });
    ctx.body = reloadedRecord(wanted.name);
  };
  const put: Handler = async (ctx) => {
    const name = fileOf(ctx);
    const wanted = ctx.request.body as UpstreamPutBody;
    const guard = ifMatchGuard(ctx.req.headers['if-match']);
    await configWrite(() => changeUpstreamFile(folder, name, wanted, guard), reload);
    audit(deps, ctx, 'upstream.change', { upstream: name, fields: Object.keys(wanted) });
    ctx.body = reloadedRecord(name);
  };
  const remove: Handler = async (ctx) => {
    const name = fileOf(ctx);
    const guard = ifMatchGuard(ctx.req.headers['if-match']);
    await configWrite(() => removeUpstreamFile(folder, name, guard), reload);
    audit(deps, ctx, 'upstream.remove', { upstream: name });
    upstreams.reload();
    ctx.body = { removed: name };
  };
  const test: Handler = async (ctx) => {
    const name = nameOf(ctx);
    const { model } = (ctx.request.body ?? {}) as { model?: string };
    audit(deps, ctx, 'upstream.test', { upstream: name });
    const steps = await deps.inference.tryUpstream(name, model ?? null, ctx.state.id, ctx.res);
    ctx.body = { ok: steps.every(({ ok }) => ok), steps, upstream: upstreams.detail(name) };
  };
  return {
    upstreams: list,
    upstream: get,
    'upstream.create': create,
    'upstream.put': put,
    'upstream.remove': remove,
    'upstream.test': test,
  } satisfies Record<string, Handler>;
}

/** Every upstream as administrators see it, without the ids of its models. */
const details = ({ upstreams }: RouteDeps): UpstreamRecord[] =>
  upstreams.views().map((view) => {
    const { model_ids: _, ...detail } = upstreams.detail(view.name) ?? view;
    return detail;
  });
