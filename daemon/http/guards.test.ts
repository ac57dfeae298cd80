import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuth } from '../auth/auth.ts';
import { memorySessions, memorySettings } from '../auth/testing.ts';
import type { GatewayError } from '../contract/errors.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { admit, type GuardDeps, guard } from './guards.ts';
import { createMatcher } from './matcher.ts';

type Values = NonNullable<Parameters<typeof memorySettings>[0]>;

interface Sent {
  method?: string;
  url?: string;
  with?: Record<string, string>;
  /** Header pairs after those of `with`, so that a name may occur twice. */
  more?: string[];
  peer?: string;
}

const ADMIN = { authorization: 'Bearer the-admin-key' };
const CLIENT = { authorization: 'Bearer the-client-key' };
const ENFORCED: Values = { requireAuth: true, adminKey: 'the-admin-key', clientKey: 'the-client-key' };

/** The guards with their real checks, and settings and sessions in memory. */
async function setUpGuards(
  values: Values = ENFORCED,
  listener = { bindHost: '0.0.0.0', port: 1, loopback: false },
) {
  const { log, lines } = recordedLog();
  const settings = memorySettings({ ...values });
  const audit = { add: () => {}, list: () => [] };
  const auth = await createAuth({
    settings,
    store: { sessions: memorySessions(), audit, isContentLost: false },
    log,
    secretFile: join(scratch(), 'secret.bin'),
    listener: () => listener,
    localHostnames: { names: ['box'], searchDomains: [] },
  });
  const deps: GuardDeps = { auth, log };
  const match = createMatcher();
  const request = ({
    method = 'GET',
    url = '/',
    peer = '192.168.1.7',
    with: headers = {},
    more = [],
  }: Sent) =>
    ({
      method,
      url,
      headers,
      rawHeaders: [...Object.entries({ host: 'box', ...headers }).flat(), ...more],
      socket: { remoteAddress: peer },
    }) as unknown as IncomingMessage;
  const pass = async (sent: Sent, upgrade = false) => {
    const admitted = admit(deps, request(sent), upgrade);
    const target = match(admitted.auth.method, admitted.target.path);
    return guard(deps, admitted, target, { id: 'req-1', receivedAt: 5 });
  };
  return {
    deps,
    auth,
    settings,
    lines,
    pass,
    /** Returns the error of a request, or the id of the route. */
    outcome: (sent: Sent, upgrade = false): Promise<string> =>
      (async () => pass(sent, upgrade))().then(
        ({ route }) => route.id,
        (error: GatewayError) => error.code,
      ),
    refusal: async (sent: Sent, upgrade = false): Promise<GatewayError> =>
      (async () => pass(sent, upgrade))().then(
        () => expect.unreachable('it passed'),
        (error: GatewayError) => error,
      ),
  };
}

describe('the order of the guards', () => {
  it('framing before Host, Host before Origin, Origin before the tier, the tier before the limiter', async () => {
    const { outcome, settings } = await setUpGuards({ ...ENFORCED, loginRatelimitMax: 1 });
    settings.file.requireAuth = false;
    const bad = { host: 'attacker.org', origin: 'http://attacker.net' };
    const rotate = { method: 'POST', url: '/api/auth/rotate' };
    expect(await outcome({ ...rotate, url: 'rotate', with: bad })).toBe('request.malformed');
    expect(await outcome({ ...rotate, with: bad })).toBe('auth.host_forbidden');
    expect(await outcome({ ...rotate, with: { origin: 'http://attacker.net' } })).toBe(
      'auth.origin_forbidden',
    );
    expect(await outcome(rotate)).toBe('auth.required');
    expect(await outcome({ ...rotate, with: ADMIN })).toBe('auth.rotate');
    expect(await outcome({ ...rotate, with: ADMIN })).toBe('auth.rate_limited');
    // L05: a request that is refused before the limiter is not an event, and nothing else is limited.
    expect(await outcome({ ...rotate, peer: '192.168.1.8' })).toBe('auth.required');
    expect(await outcome({ ...rotate, with: ADMIN, peer: '192.168.1.8' })).toBe('auth.rotate');
    expect(await outcome({ url: '/api/audit', with: ADMIN })).toBe('audit');
  });

  it('verify_presented_keys refuses wrong keys on open routes of /v1 only', async () => {
    const { outcome, refusal, settings } = await setUpGuards({ ...ENFORCED, verifyPresentedKeys: true });
    const wrong = { authorization: 'Bearer wrong' };
    const refused = await refusal({ url: '/v1/models', with: wrong });
    expect([refused.code, refused.message]).toEqual(['auth.required', 'This key is not valid here.']);
    expect(await outcome({ url: '/v1/models/org/name', with: wrong })).toBe('auth.required');
    expect(await outcome({ url: '/v1/models?api_key=wrong' })).toBe('auth.required');
    expect(await outcome({ url: '/v1/models', with: { cookie: 'svc_session=stale' } })).toBe('v1.models');
    for (const headers of [undefined, ADMIN, CLIENT, { 'x-api-key': 'wrong' } as Record<string, string>])
      expect(await outcome({ url: '/v1/models', with: headers })).toBe('v1.models');
    for (const url of ['/api/health', '/api/auth/status', '/'])
      expect(await outcome({ url, with: wrong })).not.toBe('auth.required');
    settings.file.verifyPresentedKeys = false;
    expect(await outcome({ url: '/v1/models', with: wrong })).toBe('v1.models');
  });

  it('returns the results of the checks', async () => {
    const { pass } = await setUpGuards();
    const call = await pass({ url: '/v1/models/org/name?show_all=1', with: ADMIN });
    expect(call).toMatchObject({
      id: 'req-1',
      receivedAt: 5,
      target: { path: '/v1/models/org/name', query: 'show_all=1' },
      caller: { tier: 'admin', via: 'bearer' },
      route: { id: 'v1.model' },
      auth: { method: 'GET', peer: '192.168.1.7', upgrade: false },
    });
  });
});

describe('Host', () => {
  it('O14 a foreign name is refused while enforcement is off, and only recorded while it is on', async () => {
    const { outcome, settings, lines } = await setUpGuards();
    const rebound = { url: '/api/health', with: { host: 'attacker.org' } };
    expect(await outcome(rebound)).toBe('health');
    const noted = { event: 'host.unlisted', level: 'debug', msg: expect.stringContaining('not listed') };
    expect(lines).toContainEqual(expect.objectContaining(noted));
    settings.file.requireAuth = false;
    expect(await outcome(rebound)).toBe('auth.host_forbidden');
    expect(await outcome({ url: '/api/health' })).toBe('health');
    expect(lines.filter(({ event }) => event === 'host.unlisted')).toHaveLength(1);
  });

  it('a malformed Host closes the connection with and without enforcement', async () => {
    const { refusal } = await setUpGuards();
    const error = await refusal({ url: '/api/health', with: { host: 'a b' } });
    expect([error.code, error.status, error.headers()]).toEqual([
      'request.malformed',
      400,
      { connection: 'close' },
    ]);
    expect(error.message).toContain('Host');
  });
});

describe('class', () => {
  it('C02 C15 404 and 405 are shown only to callers that may see them', async () => {
    const { outcome, refusal } = await setUpGuards();
    const unknownRoute = { url: '/api/nowhere' };
    expect(await outcome(unknownRoute)).toBe('auth.required');
    expect(await outcome({ ...unknownRoute, with: CLIENT })).toBe('auth.forbidden');
    expect(await outcome({ ...unknownRoute, with: ADMIN })).toBe('route.not_found');
    const post = { method: 'POST', url: '/v1/models' };
    expect(await outcome(post)).toBe('auth.required');
    const error = await refusal({ ...post, with: ADMIN });
    expect(error.code).toBe('route.method_not_allowed');
    expect(error.headers().allow?.split(', ').sort()).toEqual(['GET', 'HEAD']);
  });

  it('names the header to use only to callers that sent x-api-key alone', async () => {
    const { refusal } = await setUpGuards();
    const message = async (headers: Record<string, string>) =>
      (await refusal({ url: '/api/audit', with: headers })).message;
    const plain = await message({});
    expect(plain).not.toContain('x-api-key');
    expect(await message({ 'x-api-key': 'k' })).toMatch(/x-api-key.*Authorization: Bearer/);
  });

  it.each([
    ['a Bearer key', '/api/audit', { authorization: 'Bearer wrong' }],
    ['a Bearer key beside x-api-key', '/api/audit', { 'x-api-key': 'k', authorization: 'Bearer wrong' }],
    ['api_key of the query', '/v1/chat/completions?api_key=wrong', {}],
    ['a key on a path without a route', '/nothing', { authorization: 'Bearer wrong' }],
    ['the old client key', '/v1/messages', { authorization: 'bearer the-client-kez' }],
  ])('a wrong key is distinct from a missing one: %s', async (_, url, headers) => {
    const { refusal } = await setUpGuards();
    const missing = await refusal({ method: 'POST', url: url.split('?')[0] as string });
    const wrong = await refusal({ method: 'POST', url, with: headers });
    expect([wrong.code, wrong.message]).toEqual(['auth.required', 'This key is not valid here.']);
    expect([missing.code, missing.message]).toEqual([
      'auth.required',
      'A key is required. It is SVC_CLIENT_KEY or SVC_ADMIN_KEY in api.env on the host of the gateway.',
    ]);
    for (const each of [missing, wrong]) expect(each.headers()['x-should-retry']).toBe('false');
  });

  it('an upgrade is checked by its Origin for any method', async () => {
    const { outcome } = await setUpGuards();
    const socket = { url: '/v1/realtime', with: { ...CLIENT, origin: 'http://attacker.net' } };
    expect(await outcome(socket, true)).toBe('auth.origin_forbidden');
    expect(await outcome({ ...socket, with: CLIENT }, true)).toBe('v1.realtime');
    expect(await outcome(socket)).toBe('v1.realtime');
  });

  it('a caller behind a proxy is detected before any check', async () => {
    const { outcome, auth } = await setUpGuards({ ...ENFORCED, trustForwardedFor: false });
    for (const one of ['203.0.113.1', '203.0.113.2'])
      await outcome({ url: '/api/nowhere', peer: '127.0.0.1', with: { 'x-forwarded-for': one } });
    expect(auth.sharedAddressCause()).not.toBeNull();
  });

  it('a request without method and target counts as a GET of an empty target', async () => {
    const { deps } = await setUpGuards();
    const bare = { headers: {}, rawHeaders: ['Host', 'box'], socket: {} } as unknown as IncomingMessage;
    expect(() => admit(deps, bare, false)).toThrow(expect.objectContaining({ code: 'request.malformed' }));
    const root = { ...bare, url: '/' } as IncomingMessage;
    expect(admit(deps, root, true).auth).toMatchObject({ method: 'GET', peer: '', upgrade: true });
  });
});

describe('limiter', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const login = { method: 'POST', url: '/api/auth/login' };

  it('L01 L04 R15 shows how long to wait, as a header and in the body', async () => {
    const { outcome, refusal } = await setUpGuards({
      ...ENFORCED,
      loginRatelimitMax: 2,
      loginRatelimitWindowS: 30,
    });
    expect(await outcome(login)).toBe('auth.login');
    vi.advanceTimersByTime(10_000);
    expect(await outcome(login)).toBe('auth.login');
    const error = await refusal(login);
    expect([error.code, error.status]).toEqual(['auth.rate_limited', 429]);
    expect(error.options.details).toEqual({ retry_after_s: 20 });
    expect(error.headers()['retry-after']).toBe('20');
    vi.advanceTimersByTime(20_000);
    expect(await outcome(login)).toBe('auth.login');
  });

  it('D9 many attempts from different addresses are delayed and pass', async () => {
    const { outcome } = await setUpGuards({ ...ENFORCED, loginRatelimitMax: 1000 });
    for (let i = 0; i < 100; i++)
      expect(await outcome({ ...login, peer: `192.168.1.${i}` })).toBe('auth.login');
    let done = false;
    const slow = outcome(login).then((code) => {
      done = true;
      return code;
    });
    await vi.advanceTimersByTimeAsync(9);
    expect(done).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await slow).toBe('auth.login');
  });
});
