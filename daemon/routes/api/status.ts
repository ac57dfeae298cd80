import { companionAddress } from '../../companion/address.ts';
import type { StatusOverviewView } from '../../contract/system.ts';
import { baseOf } from '../base-urls.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';
import { systemChecks } from './health.ts';

/** `GET /api/status`, `/api/config/urls`: the gateway at a glance. */
export function statusRoutes(deps: RouteDeps) {
  return {
    status: (ctx) => {
      ctx.body = overview(deps);
    },
    'config.urls': async (ctx) => {
      ctx.body = await urls(deps, ctx.state);
    },
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
    guard_remote_admin: deps.settings.value('guardRemoteAdmin'),
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

/**
 * Addresses based on the request's Host, which the Host check accepted. https when a trusted proxy reports
 * it.
 */
async function urls({ auth, companion }: RouteDeps, call: Call) {
  const host = call.auth.headers.host ?? '';
  const base = baseOf({ auth }, call);
  const { plan, isResponding } = await companion.refreshed();
  return {
    api: `${base}/v1`,
    dashboard: `${base}/`,
    companion: plan !== null && isResponding ? companionAddress(plan, host) : null,
    companion_enabled: plan !== null,
  };
}
