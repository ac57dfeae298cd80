import { companionWarning } from '../../companion/warning.ts';
import type { SystemHealthView } from '../../contract/system.ts';
import { USABLE_HEALTH } from '../../contract/upstreams.ts';
import { plural } from '../../lib/text/plural.ts';
import { freeBytesNow, KEEP_FREE_BYTES } from '../../models/pulls/disk-space.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { allProblems } from '../problems.ts';

type Check = SystemHealthView['checks'][string];
/** Below this, writes of the gateway fail soon. */
const CRITICAL_BYTES = 32 * 1024 * 1024;
/** Anonymous callers must not cause work, so the result is cached for this long (ms). */
const CACHE_MS = 1000;

/**
 * `GET /api/health` checks nothing. `GET /api/health/system` checks all parts, without paths, names or
 * addresses.
 */
export function healthRoutes(deps: RouteDeps) {
  let cached: { at: number; view: SystemHealthView } | null = null;
  const system = (): SystemHealthView => {
    const now = performance.now();
    if (cached && now - cached.at < CACHE_MS) return cached.view;
    const checks = systemChecks(deps);
    const degraded = Object.values(checks).some((check) => check.status !== 'ok');
    cached = { at: now, view: { status: degraded ? 'degraded' : 'ok', checks } };
    return cached.view;
  };
  return {
    health: (ctx) => {
      ctx.body = { status: 'ok', name: deps.name, version: deps.version };
    },
    'health.system': (ctx) => {
      ctx.body = system();
    },
  } satisfies Record<string, Handler>;
}

/** Returns the state of each part, in words that every caller may read. */
export function systemChecks(deps: RouteDeps): Record<string, Check> {
  return {
    store: storeCheck(deps),
    disk: diskCheck(freeBytesNow(deps.settings.folders.state)),
    configuration: configurationCheck(deps),
    slots: slotsCheck(deps),
    ...upstreamsCheck(deps),
    exposure: exposureCheck(deps),
    ...proxyCheck(deps),
    ...companionCheck(deps),
  };
}

function storeCheck(deps: RouteDeps): Check {
  deps.store.check();
  const { status, message } = deps.store.health();
  return { status, message };
}

/** Free space for models, the database and uploads; `free` in bytes. */
export function diskCheck(free: number | null): Check {
  if (free === null) return { status: 'warning', message: 'The free disk space could not be read.' };
  if (free >= KEEP_FREE_BYTES)
    return { status: 'ok', message: 'The disk of the state folder has enough free space.' };
  const mib = Math.floor(free / 1024 ** 2);
  const message = `The disk of the state folder has ${mib} MiB free`;
  const next = 'Remove unused models, or free disk space.';
  return free < CRITICAL_BYTES
    ? { status: 'failed', message: `${message}: downloads, request logs and memories fail. ${next}` }
    : { status: 'warning', message: `${message}: models cannot be downloaded. ${next}` };
}

function configurationCheck(deps: RouteDeps): Check {
  const count = allProblems(deps).length;
  if (count === 0) return { status: 'ok', message: 'All settings are valid.' };
  const instead =
    whyKeysRequired(deps) ??
    equalKeysMessage(deps) ??
    'Unreadable settings keep their last good value, or use the default.';
  return { status: 'warning', message: `${plural(count, 'problem')} in the configuration. ${instead}` };
}

function equalKeysMessage({ settings }: RouteDeps): string | null {
  const key = settings.value('clientKey');
  if (key === '' || key !== settings.value('adminKey')) return null;
  return 'The client key equals the admin key, so every app with this key has admin access: run svcctl auth rotate client.';
}

/** Returns why keys are required although no readable setting says so, or null. */
function whyKeysRequired({ settings }: RouteDeps): string | null {
  const { value, source, warning } = settings.resolve('requireAuth');
  if (!value) return null;
  if (warning !== undefined)
    return 'Keys are required because SVC_REQUIRE_AUTH cannot be read: set it to on or off.';
  const unread = settings
    .views()
    .some(({ name, problem }) => name === 'requireAuth' && problem !== undefined);
  if (source !== 'file' || !unread) return null;
  return 'Keys are required because require_auth in config.toml cannot be read: set it to true or false under [security].';
}

function slotsCheck({ slots }: Pick<RouteDeps, 'slots'>): Check {
  const all = slots.list();
  const failed = all.filter(({ state }) => state === 'error');
  const modelMissing = all.filter(
    ({ name, enabled, model }) => enabled && model === null && slots.config(name)?.model != null,
  );
  const message = [
    ...(failed.length === 0 ? [] : [`Failed slots: ${namesOf(failed)}.`]),
    ...(modelMissing.length === 0
      ? []
      : [`The configured model was not found for slot: ${namesOf(modelMissing)}.`]),
  ];
  if (message.length === 0) return { status: 'ok', message: 'No slot has failed.' };
  return { status: 'warning', message: message.join(' ') };
}

const namesOf = (slots: readonly { readonly name: string }[]): string =>
  slots.map(({ name }) => name).join(', ');

/** Only where there are upstreams: most gateways have none. */
function upstreamsCheck(deps: RouteDeps): Record<string, Check> {
  const all = deps.upstreams.views().filter(({ enabled }) => enabled);
  if (all.length === 0) return {};
  const away = all.filter(({ health }) => !USABLE_HEALTH.has(health));
  if (away.length === 0) return { upstreams: { status: 'ok', message: 'No upstream has failed.' } };
  const message = `Unavailable: ${away.map(({ name, health }) => `${name} (${health})`).join(', ')}.`;
  return { upstreams: { status: 'warning', message } };
}

function exposureCheck(deps: RouteDeps): Check {
  const { require_auth } = deps.auth.enforcement();
  if (require_auth && !deps.auth.hasKey('admin')) {
    return {
      status: 'failed',
      message: 'Enforcement is on but no admin key is set: only open routes answer.',
    };
  }
  if (require_auth || deps.listener().loopback)
    return { status: 'ok', message: 'Nothing is exposed without a key.' };
  return { status: 'warning', message: 'The gateway listens on the network and no key is required.' };
}

const SHARED_ADDRESS_MESSAGES = {
  untrusted:
    'Callers behind a proxy share one login limit: X-Forwarded-For is not read. If the proxy overwrites it, set SVC_TRUST_FORWARDED_FOR=on.',
  unlisted:
    'Callers behind a proxy share one login limit: it calls from a public address. Name it in [security] trusted_proxies.',
} as const;

/** Present only when a proxy was detected whose callers are not distinguished. */
function proxyCheck(deps: RouteDeps): Record<string, Check> {
  const collapsed = deps.auth.sharedAddressCause();
  return collapsed === null
    ? {}
    : { proxy: { status: 'warning', message: SHARED_ADDRESS_MESSAGES[collapsed] } };
}

/** Present only when the chat UI is configured. */
function companionCheck(deps: RouteDeps): Record<string, Check> {
  const { plan } = deps.companion.last();
  if (plan === null) return {};
  const { require_auth: enforced } = deps.auth.enforcement();
  const message = companionWarning({ plan, enforced, hasClientKey: deps.auth.hasKey('client') });
  if (message !== null) return { companion: { status: 'warning', message } };
  return { companion: { status: 'ok', message: 'The companion chat UI may use the models.' } };
}
