import { ROUTES } from '../../contract/routes.ts';
import type { ExplainView } from '../../contract/system.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import { HOPS_HEADER } from '../../upstreams/hops.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { openApi } from '../openapi.ts';
import { Query } from '../query.ts';

/** Models, hardware, audit, metrics and the API description. */
export function systemRoutes(deps: RouteDeps) {
  /** Built on first use: it is rarely requested and takes a tenth of a warm start. */
  let description: ReturnType<typeof openApi> | undefined;
  return {
    hardware: async (ctx) => {
      ctx.body = await deps.hardware.current();
    },
    'hardware.probe': async (ctx) => {
      ctx.body = await deps.hardware.probe();
    },
    openapi: (ctx) => {
      description ??= openApi(ROUTES, { title: deps.name, version: deps.version });
      ctx.body = description;
    },
    /** `?limit=&before=`, newest first; `before` is the id of the last entry of the page before. */
    audit: (ctx) => {
      const query = new Query(ctx);
      const before = query.whole('before', { min: 1, max: 999_999_999, absent: 0 });
      const limit = query.whole('limit', { min: 1, max: 1_000, absent: 200 });
      ctx.body = { entries: deps.store.audit.list(limit, before === 0 ? undefined : before) };
    },
    'dispatch.explain': async (ctx) => {
      const wanted = ctx.request.body as { path: string; model?: string };
      const view: ExplainView = deps.inference.explain(wanted);
      // The question of another gateway ends here, so that questions do not go around.
      const isFromGateway = ctx.req.headers[HOPS_HEADER] !== undefined;
      const beyond = isFromGateway ? null : await explainBeyond(deps.upstreams, view);
      ctx.body = redactSecretsIn({ ...view, beyond }, deps.settings.secrets());
    },
    metrics: async (ctx) => {
      ctx.set('Content-Type', deps.metrics.contentType);
      ctx.body = await deps.metrics.render();
    },
  } satisfies Record<string, Handler>;
}

/** Returns what the gateway behind the chosen upstream would do; null when there is none. */
async function explainBeyond(
  upstreams: Pick<RouteDeps['upstreams'], 'explain'>,
  { path, model, alias, upstream, fallback }: ExplainView,
): Promise<ExplainView['beyond']> {
  const used = fallback?.models.find((each) => each.model === fallback.used);
  const target = used === undefined ? upstream : used.upstream;
  const name = used?.model ?? alias?.target ?? model;
  if (target === null || name === null) return null;
  return upstreams.explain(target, { path, model: name }, AbortSignal.timeout(EXPLAIN_LIMIT_MS));
}

/** Longer than the time limit of the query itself. */
const EXPLAIN_LIMIT_MS = 10_000;
