import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore } from '../store/store.ts';
import { type Auth, type AuthChange, createAuth } from './auth.ts';
import { fingerprint } from './keys.ts';
import type { AuthRequest } from './request.ts';
import { aRequest } from './testing.ts';

/** The real settings, store and secret in a separate folder. */
async function boot(
  home: string,
  env: Record<string, string> = {},
  listener = { bindHost: '0.0.0.0', port: 8080, loopback: false },
) {
  const { log, lines } = recordedLog();
  const settings = await openSettings({ env: { SVC_HOME: home, ...env }, log, watch: false });
  const store = openStore({ folder: settings.folders.state, log });
  const bus = new EventBus<GatewayEvents>();
  const secretFile = join(settings.folders.state, 'secret.bin');
  const auth = await createAuth({
    settings,
    store,
    log,
    bus,
    secretFile,
    listener: () => listener,
    localHostnames: { names: [], searchDomains: [] },
  });
  const stop = () => {
    settings.close();
    store.close();
  };
  onTestFinished(stop);
  return {
    auth,
    settings,
    store,
    bus,
    lines,
    stop,
    envFile: join(settings.folders.config, 'api.env'),
    secretFile,
  };
}

const KEYS = { SVC_ADMIN_KEY: 'the-first-admin-key', SVC_CLIENT_KEY: 'the-first-client-key' };
const bearer = (key: string) => aRequest({ with: { Authorization: `Bearer ${key}` } });
const withCookie = (setCookie: string) => aRequest({ with: { Cookie: setCookie.split(';')[0] as string } });
const tierOf = (auth: Auth, key: string) => auth.caller(bearer(key)).tier;
const login = (auth: Auth, key = KEYS.SVC_ADMIN_KEY) =>
  withCookie(auth.login(key, aRequest({ method: 'POST' })).setCookie);

describe('an admin key that is written and cannot be read', () => {
  const lanRequest = aRequest({ peer: '192.168.1.9' });
  const decisions = (auth: Auth) =>
    (['admin', 'bootstrap', 'client'] as const).map((rule) =>
      auth.decide(rule, auth.caller(lanRequest), lanRequest),
    );
  const CLOSED = ['auth.required', 'auth.required', 'pass'];

  it.each([
    ['in Latin-1', Buffer.from('SVC_ADMIN_KEY=schl\xfcssel\n', 'latin1')],
    ['after "set"', Buffer.from('set SVC_ADMIN_KEY=a-key\n')],
    ['in UTF-16', Buffer.from('\ufeffA=1\nSVC_ADMIN_KEY=a-key\n', 'utf16le')],
  ])('%s locks callers out until it is removed', async (_name, bytes) => {
    const home = scratch();
    mkdirSync(join(home, 'config'));
    writeFileSync(join(home, 'config/api.env'), bytes, { mode: 0o600 });
    const { auth, settings, envFile } = await boot(home);
    expect(decisions(auth)).toEqual(CLOSED);
    writeFileSync(envFile, '# SVC_ADMIN_KEY=a-key\nset SVC_ADMIN_KEY=\n');
    await settings.reload();
    expect(decisions(auth)).toEqual(['pass', 'pass', 'pass']);
  });

  it('in a file that was unreadable at the start locks callers out until the file is readable', async () => {
    const home = scratch();
    mkdirSync(join(home, 'config'));
    symlinkSync('nowhere', join(home, 'config/api.env'));
    const { auth, settings, envFile } = await boot(home);
    expect(decisions(auth)).toEqual(CLOSED);
    await settings.reload();
    expect(decisions(auth)).toEqual(CLOSED);
    unlinkSync(envFile);
    await settings.reload();
    expect(decisions(auth)).toEqual(['pass', 'pass', 'pass']);
  });
});

describe('auth', () => {
  it('T15 reports the actual tier with and without enforcement', async () => {
    const { auth } = await boot(scratch(), KEYS);
    expect(auth.status(auth.caller(aRequest()))).toEqual({
      auth_required: false,
      has_admin_key: true,
      tier: 'anon',
    });
    expect(auth.status(auth.caller(bearer(KEYS.SVC_CLIENT_KEY))).tier).toBe('client');
    await auth.requireAuth(true);
    expect(auth.status(auth.caller(bearer(KEYS.SVC_ADMIN_KEY)))).toEqual({
      auth_required: true,
      has_admin_key: true,
      tier: 'admin',
    });
    expect([auth.hasKey('admin'), auth.hasKey('client')]).toEqual([true, true]);
  });

  it('an unusable admin key counts as set and matches nothing', async () => {
    const { auth, lines } = await boot(scratch(), { SVC_ADMIN_KEY: 'Schlüssel-des-Hauses' });
    const remote = aRequest({ peer: '192.168.1.9' });
    const anon = auth.caller(remote);
    expect([auth.hasKey('admin'), tierOf(auth, 'Schlüssel-des-Hauses')]).toEqual([false, 'anon']);
    expect(() => auth.login('Schlüssel-des-Hauses', remote)).toThrow();
    expect(auth.decide('admin', anon, remote)).toBe('auth.required');
    expect(auth.decide('bootstrap', anon, remote)).toBe('auth.required');
    expect(auth.decide('admin', anon, aRequest())).toBe('pass');
    await expect(auth.requireAuth(true)).rejects.toMatchObject({ code: 'auth.no_admin_key' });
    expect(JSON.stringify(lines)).toContain('SVC_ADMIN_KEY must be printable ASCII');
    await auth.rotate('admin');
    expect([auth.hasKey('admin'), auth.decide('bootstrap', anon, remote)]).toEqual([true, 'auth.required']);
  });

  it('K09 K10 a session survives rotation and restart, and stays invalid after logout', async () => {
    const home = scratch();
    const first = await boot(home, KEYS);
    const [one, two] = [login(first.auth), login(first.auth)];
    await first.auth.rotate('admin');
    await first.auth.rotate('client');
    expect(first.auth.caller(one)).toMatchObject({ tier: 'admin', via: 'cookie' });
    expect(first.auth.logout(one).setCookie).toMatch(/^svc_session=; Max-Age=0; /);
    expect(first.auth.caller(one).tier).toBe('anon');
    first.stop();
    const second = await boot(home, KEYS);
    expect(second.auth.caller(one).tier).toBe('anon');
    expect(second.auth.caller(two).tier).toBe('admin');
    const rows = second.auth.sessions(second.auth.caller(two));
    expect(rows).toEqual([
      expect.objectContaining({ current: true, id8: second.auth.caller(two).sessionId?.slice(0, 8) }),
    ]);
  });

  it('a logout ends every session that the cookies of the request prove', async () => {
    const { auth } = await boot(scratch(), KEYS);
    const [one, two, other] = [login(auth), login(auth), login(auth)];
    const cookieOf = (request: AuthRequest) => request.rawHeaders.at(-1) as string;
    const Cookie = `svc_session=stale; ${cookieOf(one)}; ${cookieOf(two)}`;
    auth.logout(aRequest({ method: 'POST', with: { Cookie } }));
    expect([one, two, other].map((request) => auth.caller(request).tier)).toEqual(['anon', 'anon', 'admin']);
  });

  it('a login with a wrong key does not change the session of the caller', async () => {
    const { auth } = await boot(scratch(), KEYS);
    const session = login(auth);
    expect(() => auth.login('wrong', session)).toThrow(/not the admin key/);
    expect(() => auth.login(KEYS.SVC_CLIENT_KEY, session)).toThrow(/not the admin key/);
    expect(auth.caller(session).tier).toBe('admin');
  });

  it('D05 the cookie is Secure when the login came over TLS, or on request', async () => {
    const { auth } = await boot(scratch(), KEYS);
    const https = aRequest({ method: 'POST', with: { Origin: 'https://box.lan' } });
    expect(auth.login(KEYS.SVC_ADMIN_KEY, https).setCookie).toMatch(/; Secure/);
    expect(auth.login(KEYS.SVC_ADMIN_KEY, https, false).setCookie).not.toMatch(/Secure/);
    expect(auth.login(KEYS.SVC_ADMIN_KEY, aRequest()).setCookie).not.toMatch(/Secure/);
  });

  it('R03 a rotated key takes effect at once and after a restart, also with an inherited environment value', async () => {
    const home = scratch();
    const first = await boot(home, KEYS);
    const view = await first.auth.rotate('admin', { tier: 'admin', address: '10.0.0.1' });
    expect(tierOf(first.auth, KEYS.SVC_ADMIN_KEY)).toBe('anon');
    const key = /SVC_ADMIN_KEY="?([^"\n]+)/.exec(readFileSync(first.envFile, 'utf8'))?.[1] as string;
    expect([fingerprint(key), key.length]).toEqual([view.fingerprint, view.key_len]);
    expect(tierOf(first.auth, key)).toBe('admin');
    expect(first.store.audit.list(1)[0]).toMatchObject({
      action: 'auth.rotate',
      tier: 'admin',
      address: '10.0.0.1',
      details: { tier: 'admin', fingerprint: view.fingerprint },
    });
    first.stop();
    const second = await boot(home, KEYS);
    expect([tierOf(second.auth, key), tierOf(second.auth, KEYS.SVC_ADMIN_KEY)]).toEqual(['admin', 'anon']);
  });

  it('R04 concurrent rotations of both keys leave the last value of each in the file', async () => {
    const { auth, envFile } = await boot(scratch(), KEYS);
    const views = await Promise.all(
      Array.from({ length: 16 }, (_, i) => auth.rotate(i % 2 ? 'admin' : 'client')),
    );
    const text = readFileSync(envFile, 'utf8');
    for (const view of views.slice(-2)) {
      const name = view.tier === 'admin' ? 'SVC_ADMIN_KEY' : 'SVC_CLIENT_KEY';
      const key = new RegExp(`^${name}="?([^"\\n]+)`, 'm').exec(text)?.[1] as string;
      expect(fingerprint(key)).toBe(view.fingerprint);
      expect(tierOf(auth, key)).toBe(view.tier);
    }
  });

  it('C28 bootstrap routes are open until an admin key exists', async () => {
    const { auth } = await boot(scratch());
    const remote = aRequest({ peer: '192.168.1.9' });
    expect(auth.decide('bootstrap', auth.caller(remote), remote)).toBe('pass');
    await auth.rotate('admin');
    expect(auth.decide('bootstrap', auth.caller(remote), remote)).toBe('auth.required');
  });

  it('D17 enforcement by the environment without an admin key fails closed and logs a warning at the start', async () => {
    const { auth, lines } = await boot(scratch(), {
      SVC_REQUIRE_AUTH: '1',
      SVC_CLIENT_KEY: KEYS.SVC_CLIENT_KEY,
    });
    expect(lines.some(({ msg }) => /no admin key is set/.test(String(msg)))).toBe(true);
    const client = auth.caller(bearer(KEYS.SVC_CLIENT_KEY));
    expect(auth.decide('open', client, aRequest())).toBe('pass');
    expect(auth.decide('bootstrap', client, aRequest())).toBe('pass');
    expect(auth.decide('client', client, aRequest())).toBe('auth.forbidden');
    expect(auth.decide('client', auth.caller(aRequest()), aRequest())).toBe('auth.required');
  });

  it('D17 PUT require under an environment value persists but has no effect', async () => {
    const { auth } = await boot(scratch(), { ...KEYS, SVC_REQUIRE_AUTH: 'on' });
    expect(await auth.requireAuth(false)).toEqual({
      require_auth: true,
      persisted: false,
      source: 'env',
      applies_live: true,
    });
    expect(auth.enforcement()).toEqual({ require_auth: true, source: 'env' });
  });

  it('logs each change of enforcement, whichever source makes it', async () => {
    const { auth, settings, envFile, lines } = await boot(scratch(), KEYS);
    const logged = () =>
      lines.filter(({ event }) => event === 'auth.enforcement').map(({ msg, source }) => [msg, source]);
    await auth.requireAuth(true);
    await auth.requireAuth(true);
    await auth.rotate('client');
    expect(logged()).toEqual([['requests need a key now', 'file']]);
    await auth.requireAuth(false);
    writeFileSync(envFile, 'SVC_ADMIN_KEY=a-key-of-api-env\nSVC_REQUIRE_AUTH=on\n');
    await settings.reload();
    expect(logged().slice(1)).toEqual([
      ['requests no longer need a key', 'file'],
      ['requests need a key now', 'env'],
    ]);
  });

  it('W02 every change that affects open sockets is emitted, including a key edited by hand', async () => {
    const { auth, settings, envFile, bus } = await boot(scratch(), KEYS);
    const changes: AuthChange[] = [];
    const stop = auth.onChange((change) => changes.push(change));
    const events: unknown[] = [];
    bus.subscribe(({ payload }) => events.push(payload));
    const session = login(auth);
    await auth.requireAuth(true);
    await auth.rotate('client');
    auth.logout(session);
    auth.logout(session);
    await auth.endSessions();
    expect(changes.filter((change) => change !== 'settings')).toEqual([
      'login',
      'require',
      'rotate',
      'logout',
      'sessions_ended',
    ]);
    expect(events).toEqual([
      { change: 'login' },
      { change: 'require' },
      { change: 'rotate', tier: 'client' },
      { change: 'logout' },
      { change: 'sessions_ended' },
    ]);
    changes.length = 0;
    writeFileSync(envFile, 'SVC_ADMIN_KEY=edited-by-hand-key\n');
    await settings.reload();
    expect(changes).toContain('settings');
    expect(tierOf(auth, 'edited-by-hand-key')).toBe('admin');
    stop();
    await auth.rotate('client');
    expect(changes).not.toContain('rotate');
  });

  it('D06 ending all sessions creates a new secret; rotation does not', async () => {
    const { auth, secretFile } = await boot(scratch(), KEYS);
    const session = login(auth);
    const before = readFileSync(secretFile);
    await auth.rotate('admin');
    expect(readFileSync(secretFile)).toEqual(before);
    await auth.endSessions({ tier: 'admin', address: '::1' });
    expect(readFileSync(secretFile)).not.toEqual(before);
    expect(auth.caller(session).tier).toBe('anon');
    expect(auth.sessions({ sessionId: null })).toEqual([]);
  });

  it('K11 sessions that a removed secret has ended are not listed', async () => {
    const home = scratch();
    const first = await boot(home, KEYS);
    login(first.auth);
    first.stop();
    const same = await boot(home, KEYS);
    expect(same.auth.sessions({ sessionId: null })).toHaveLength(1);
    same.stop();
    unlinkSync(first.secretFile);
    const { auth } = await boot(home, KEYS);
    expect(auth.sessions({ sessionId: null })).toEqual([]);
    login(auth);
    expect(auth.sessions({ sessionId: null })).toHaveLength(1);
  });

  it('Q01 when the list of ended sessions is lost with the database, no session stays valid', async () => {
    const home = scratch();
    const first = await boot(home, KEYS);
    const session = login(first.auth);
    const folder = first.settings.folders.state;
    first.stop();
    writeFileSync(join(folder, 'svc.db'), Buffer.alloc(8192, 0x5a));
    const second = await boot(home, KEYS);
    expect(second.store.isContentLost).toBe(true);
    expect(second.auth.caller(session).tier).toBe('anon');
    expect(second.auth.caller(login(second.auth)).tier).toBe('admin');
  });

  it('L01 the limiter follows the settings', async () => {
    const { auth } = await boot(scratch(), {
      SVC_LOGIN_RATELIMIT_MAX: '2',
      SVC_LOGIN_RATELIMIT_WINDOW_S: '30',
    });
    expect([auth.limiter.take('a'), auth.limiter.take('a')]).toEqual([
      { ok: true, delayMs: 0 },
      { ok: true, delayMs: 0 },
    ]);
    expect(auth.limiter.take('a')).toEqual({ ok: false, retryAfterS: 30 });
    expect(auth.limiter.take('b').ok).toBe(true);
  });

  it('C01 the exposure view contains the current enforcement and listener', async () => {
    const { auth } = await boot(scratch(), KEYS);
    expect(auth.exposure()).toMatchObject({
      enforcement: { require_auth: false, source: 'default' },
      listener: { bind_host: '0.0.0.0', port: 8080, loopback: false },
    });
    await auth.requireAuth(true);
    expect(auth.exposure().enforcement).toEqual({ require_auth: true, source: 'file' });
  });

  it('X01 no key, cookie or secret reaches the log, the audit trail or a response', async () => {
    const { auth, lines, store, envFile, secretFile } = await boot(scratch(), KEYS);
    const session = login(auth);
    await auth.rotate('admin');
    await auth.rotate('client');
    await auth.requireAuth(true);
    const outputs = JSON.stringify([
      lines,
      store.audit.list(100),
      auth.exposure(),
      auth.status({ tier: 'admin' }),
      auth.sessions({ sessionId: null }),
    ]);
    const canaries = [
      ...Object.values(KEYS),
      ...[...readFileSync(envFile, 'utf8').matchAll(/_KEY="?([^"\n]+)/g)].map((match) => match[1] as string),
    ];
    canaries.push(session.rawHeaders.at(-1) as string, readFileSync(secretFile).toString('hex'));
    for (const canary of canaries) expect(outputs).not.toContain(canary);
  });
});
