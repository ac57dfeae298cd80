import { join } from 'node:path';
import type { ExposureView, RequireView, RotateView, StatusView } from '../contract/auth.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { type RouteRow, routeRows } from '../contract/routes.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { ENV_FILE } from '../settings/env-layer.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Actor, type AuthChange, createAuthEvents } from './auth-events.ts';
import type { Caller } from './credentials.ts';
import { createEnforcement, type Enforcement } from './enforcement.ts';
import { exposureOf } from './exposure.ts';
import { createGuards, type Guards } from './guards.ts';
import { createKeys, type KeyTier } from './keys.ts';
import { type LocalHostnames, readLocalHostnames } from './local-hostnames.ts';
import { createLoginLimiter } from './login-limiter.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { endAllSessions } from './lost-sessions.ts';
import { createRotate } from './rotate.ts';
import { createSessions } from './sessions.ts';
import { openSigningSecret } from './signing-secret.ts';

export type { Actor, AuthChange } from './auth-events.ts';
export type { AuthRequest } from './request.ts';

/** All access decisions. */
export interface Auth extends Guards, Accounts {
  limiter: {
    /**
     * Counts one login or rotation. `delayMs` is the delay before continuing; it is 0 unless many addresses
     * try keys at once.
     */
    take(address: string): { ok: true; delayMs: number } | { ok: false; retryAfterS: number };
  };
  status(caller: Pick<Caller, 'tier'>): StatusView;
  /** Throws `auth.no_admin_key`. */
  requireAuth(on: boolean, by?: Actor): Promise<RequireView>;
  /** Throws `auth.rotate_failed`. */
  rotate(tier: KeyTier, by?: Actor): Promise<RotateView>;
  exposure(): ExposureView;
  enforcement: Enforcement['effective'];
  hasKey(tier: KeyTier): boolean;
  /**
   * Calls the listener after every change that requires a new check of open sockets. Returns the unsubscribe
   * function.
   */
  onChange(listener: (change: AuthChange) => void): () => void;
}

export interface AuthDeps {
  settings: Pick<Settings, 'folders' | 'value' | 'resolve' | 'persist' | 'setEnvFile' | 'onChange'>;
  store: Pick<Store, 'sessions' | 'audit' | 'isContentLost'>;
  log: Log;
  /** Path of the signing secret: `secret.bin` in the state folder. */
  secretFile: string;
  listener: () => { bindHost: string; port: number; loopback: boolean };
  bus?: EventBus<GatewayEvents>;
  routes?: ReadonlyArray<RouteRow & { readonly id: string }>;
  /** Default: read from this machine's own files, once. */
  localHostnames?: LocalHostnames;
  /** Values that no message may contain; default: none. */
  secrets?: () => readonly string[];
}

/** Creates all parts of the folder. Rejects with SetupError when the signing secret file is invalid. */
export async function createAuth(options: AuthDeps): Promise<Auth> {
  const { settings, store, log } = options;
  const secret = await openSigningSecret(options.secretFile);
  if (secret.created) store.sessions.clear();
  if (store.isContentLost) await endAllSessions(secret, log);
  const keys = createKeys({
    admin: () => settings.value('adminKey'),
    client: () => settings.value('clientKey'),
  });
  const hasAdminKey = () => keys.has('admin');
  const sessions = createSessions({ secret, store, log });
  const events = createAuthEvents(options);
  const enforcement = createEnforcement({ settings, hasAdminKey });
  const guards = createGuards({
    settings,
    verifier: { verifySession: sessions.idOf, verifyKey: keys.tierOf },
    localHostnames: options.localHostnames ?? readLocalHostnames(),
    log,
    enforced: () => settings.value('requireAuth'),
    hasAdminKey,
    hasClientKey: () => keys.has('client'),
    unusableAdminKey: () => settings.resolve('adminKey').unusable === true,
    listener: options.listener,
    secrets: options.secrets,
  });
  const logEnforcement = enforcementLogger(enforcement, log);
  settings.onChange(() => {
    logEnforcement();
    events.emit('settings');
  });
  if (enforcement.effective().require_auth && !hasAdminKey()) log.warn(NO_ADMIN_KEY);

  return {
    ...guards,
    ...createAccounts({ guards, keys, sessions, events: events }),
    limiter: limiterOf(settings),
    status: ({ tier }) => ({
      auth_required: enforcement.effective().require_auth,
      has_admin_key: hasAdminKey(),
      tier,
    }),
    async requireAuth(on, by) {
      const view = await enforcement.set(on);
      events.audit('auth.require', by, { asked: on, effective: view.require_auth, source: view.source });
      events.emit('require');
      return view;
    },
    rotate: createRotate<Actor>({
      settings,
      log,
      envFile: join(settings.folders.config, ENV_FILE),
      onRotated(tier, fingerprint, by) {
        events.audit('auth.rotate', by, { tier, fingerprint });
        events.emit('rotate', tier);
      },
    }),
    exposure: () =>
      exposureOf({
        rows: options.routes ?? routeRows(),
        memoryClass: settings.value('memoryClass'),
        enforcement: enforcement.effective(),
        listener: options.listener(),
        refusedOrigins: guards.refusedOrigins(),
      }),
    enforcement: enforcement.effective,
    hasKey: keys.has,
    onChange: events.onChange,
  };
}

const NO_ADMIN_KEY =
  'keys are required but no admin key is set, so only open routes respond; set SVC_ADMIN_KEY in api.env';

/** Returns a function that logs a change of enforcement, whichever source made it. */
function enforcementLogger(enforcement: Enforcement, log: Log): () => void {
  let last = enforcement.effective().require_auth;
  return () => {
    const { require_auth, source } = enforcement.effective();
    if (require_auth === last) return;
    last = require_auth;
    log.info(
      { event: 'auth.enforcement', require_auth, source },
      require_auth ? 'requests need a key now' : 'requests no longer need a key',
    );
  };
}

function limiterOf(settings: Pick<Settings, 'value'>): Auth['limiter'] {
  const throttle = createLoginThrottle();
  const limiter = createLoginLimiter({
    budget: () => ({
      max: settings.value('loginRatelimitMax'),
      windowS: settings.value('loginRatelimitWindowS'),
    }),
  });
  return {
    take(address) {
      const verdict = limiter.take(address);
      return verdict.ok ? { ok: true, delayMs: throttle.delayMs() } : verdict;
    },
  };
}
