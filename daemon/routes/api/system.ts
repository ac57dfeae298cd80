import { ROUTES } from '../../contract/routes.ts';
import type { ExplainView } from '../../contract/system.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';
import { openApi } from '../openapi.ts';
import { Query } from '../query.ts';

/** Models, hardware, audit, metrics and the API description. */
export function systemRoutes(deps: RouteDeps) {
  /** Built on first use: it is rarely requested and takes a tenth of a warm start. */
  let description: ReturnType<typeof openApi> | undefined;
  return {
    hardware: () => deps.hardware.current(),
    'hardware.probe': () => deps.hardware.probe(),
    openapi: () => (description ??= openApi(ROUTES, { title: deps.name, version: deps.version })),
    /** `?limit=&before=`, newest first; `before` is the id of the last entry of the page before. */
    audit: (_ctx, call) => {
      const query = new Query(call);
      const before = query.whole('before', { min: 1, max: 999_999_999, absent: 0 });
      const limit = query.whole('limit', { min: 1, max: 1_000, absent: 200 });
      return { entries: deps.store.audit.list(limit, before === 0 ? undefined : before) };
    },
    'dispatch.explain': (_ctx, _call, body): ExplainView =>
      redactSecretsIn(
        deps.inference.explain(body as { path: string; model?: string }),
        deps.settings.secrets(),
      ),
    metrics: async (ctx) => {
      const text = Buffer.from(await deps.metrics.render());
      ctx.res.writeHead(200, { 'content-type': deps.metrics.contentType, 'content-length': text.length });
      ctx.res.end(ctx.req.method === 'HEAD' ? undefined : text);
    },
  } satisfies Record<string, Handler>;
}
