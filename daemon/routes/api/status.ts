import type { StatusOverviewView } from '../../contract/system.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { systemChecks } from './health.ts';

/** `GET /api/status`, `/api/setup`, `/api/config/urls`: the gateway at a glance. */
export function statusRoutes(deps: RouteDeps) {
  return {
    status: () => overview(deps),
    setup: () => setupState(deps),
    'config.urls': (ctx) => urls(ctx.req.headers.host ?? ''),
  } satisfies Record<string, Handler>;
}

function listenerView(deps: RouteDeps) {
  const { bindHost, port, loopback } = deps.listener();
  return { bind_host: bindHost, port, loopback };
}

function overview(deps: RouteDeps): StatusOverviewView {
  const slots = deps.slots.list();
  const checks = systemChecks(deps);
  return {
    name: deps.name,
    version: deps.version,
    host: deps.hostName,
    started_at: deps.startedAt,
    listener: listenerView(deps),
    enforcement: deps.auth.enforcement(),
    has_admin_key: deps.auth.hasKey('admin'),
    has_client_key: deps.auth.hasKey('client'),
    slots: {
      total: slots.length,
      ready: slots.filter((slot) => slot.state === 'ready' || slot.state === 'serving').length,
      error: slots.filter((slot) => slot.state === 'error').length,
    },
    warnings: Object.entries(checks)
      .filter(([, check]) => check.status !== 'ok')
      .map(([id, check]) => ({ id, message: check.message })),
  };
}

/** The first-run steps (bootstrap class): what is done and how to do the rest. Never a key. */
function setupState(deps: RouteDeps) {
  const realModel = deps.registry.views().some((model) => !model.demo && model.type === 'llm');
  const hasKey = deps.auth.hasKey('admin');
  const { require_auth } = deps.auth.enforcement();
  return {
    has_admin_key: hasKey,
    require_auth,
    bind_host: deps.listener().bindHost,
    real_model: realModel,
    steps: [
      {
        id: 'model',
        done: realModel,
        title: 'Add a real model',
        how: 'npm start -- --model FILE.gguf, or SVC_MODEL in api.env',
      },
      {
        id: 'admin-key',
        done: hasKey,
        title: 'Create the admin key',
        how: 'svcctl auth rotate admin, or Security → Rotate keys',
      },
      {
        id: 'enforcement',
        done: require_auth,
        title: 'Require keys',
        how: 'svcctl auth require on, or Security → Posture',
      },
    ],
  };
}

/** Addresses built from the request's own Host, which the Host check has accepted. */
function urls(host: string) {
  const base = `http://${host}`;
  return { api: `${base}/v1`, dashboard: `${base}/`, companion: null, companion_enabled: false };
}
