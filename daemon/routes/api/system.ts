import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import { ROUTES } from '../../contract/routes.ts';
import type { ExplainView } from '../../contract/system.ts';
import { hideSecretsIn } from '../../kit/redact.ts';
import { SETTINGS, type SettingName } from '../../settings/catalogue.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { openApi } from '../openapi.ts';
import { allProblems } from '../problems.ts';

/** Models, hardware, settings, audit, metrics and the API description. */
export function systemRoutes(deps: RouteDeps) {
  const description = openApi(ROUTES, { title: deps.name, version: deps.version });
  return {
    models: () => ({ models: deps.registry.views() }),
    hardware: () => deps.hardware.current(),
    'hardware.probe': () => deps.hardware.probe(),
    openapi: () => description,
    settings: () => settingsView(deps),
    'settings.put': (_ctx, call, body) =>
      putSettings(deps, call.caller.tier, (body as { values: Values }).values),
    audit: () => ({ entries: deps.store.audit.list(200) }),
    'dispatch.explain': (_ctx, _call, body): ExplainView =>
      hideSecretsIn(
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

type Values = Record<string, unknown>;

const settingsView = (deps: RouteDeps) => ({
  settings: deps.settings.views(),
  problems: allProblems(deps),
  env_file: join(deps.settings.folders.config, 'api.env'),
});

/** Persists settings that have a place in config.toml; enforcement has its own route with its own conditions. */
async function putSettings(deps: RouteDeps, tier: string, values: Values) {
  const fields: { path: string; reason: string }[] = [];
  const accepted: [SettingName, unknown][] = [];
  for (const [name, value] of Object.entries(values)) {
    const row = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
    if (!row?.toml || name === 'requireAuth') {
      fields.push({
        path: name,
        reason: name === 'requireAuth' ? 'use PUT /api/auth/require' : 'cannot be set here',
      });
      continue;
    }
    const parsed = row.kind.fromToml(value);
    if (parsed.ok) accepted.push([name as SettingName, parsed.value]);
    else fields.push({ path: name, reason: parsed.reason });
  }
  if (fields.length > 0) throw new GatewayError('request.invalid', { details: { fields } });
  for (const [name, value] of accepted) await configWrite(() => deps.settings.persist(name, value as never));
  deps.store.audit.add({
    action: 'settings.put',
    tier,
    address: null,
    details: { names: accepted.map(([name]) => name) },
  });
  return settingsView(deps);
}
