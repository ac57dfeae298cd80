/** spec "Authentication": rules of the routes, states of enforcement and session, tier order, over a real port. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RequireView, RotateView, SessionRow } from '../contract/auth.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, KEYS_FILE, startGateway } from './harness/gateway.ts';
import { ask, login, rawExchange } from './harness/http.ts';
import { scale } from './harness/scale.ts';

const WIDE_LIMIT = '[security]\nlogin_ratelimit_max = 10000\n';
const started: Gateway[] = [];

async function start(options: Parameters<typeof startGateway>[0] = {}): Promise<Gateway> {
  const gateway = await startGateway(options);
  started.push(gateway);
  return gateway;
}

const locked = (extra: Record<string, string> = {}) =>
  start({
    files: { ...KEYS_FILE, 'config/config.toml': WIDE_LIMIT, ...extra },
    env: { SVC_REQUIRE_AUTH: 'on' },
  });

afterEach(async () => {
  for (const gateway of started.splice(0)) {
    await gateway.stop();
    gateway.remove();
  }
});

const status = async (gateway: Gateway, options: Parameters<typeof ask>[3] = {}) =>
  (await ask(gateway, 'GET', '/api/auth/status', options)).json();

const envFile = (gateway: Gateway) => readFileSync(join(gateway.home, 'config/api.env'), 'utf8');
const keyIn = (gateway: Gateway, name: string) =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(envFile(gateway))?.[1] ?? '';
const fingerprint = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 8);

describe('a fresh install', () => {
  it('has no admin key and enforcement off; every route answers', async () => {
    const gateway = await start();
    expect(await status(gateway)).toEqual({ auth_required: false, has_admin_key: false, tier: 'anon' });
    expect((await ask(gateway, 'GET', '/api/settings')).status).toBe(200);
    expect(await ask(gateway, 'POST', '/api/auth/login', { body: { key: 'x' } })).toMatchObject({
      code: 'auth.invalid_key',
    });
  });

  it('rule 5: require without an admin key is 400 auth.no_admin_key and stays off', async () => {
    const gateway = await start();
    const answer = await ask(gateway, 'PUT', '/api/auth/require', { body: { require_auth: true } });
    expect(answer).toMatchObject({ status: 400, code: 'auth.no_admin_key' });
    expect(await status(gateway)).toMatchObject({ auth_required: false });
  });

  it('the enabling steps of the spec: rotate, require, Bearer', async () => {
    const gateway = await start();
    const rotated = (await ask(gateway, 'POST', '/api/auth/rotate')).json<RotateView>();
    const key = keyIn(gateway, 'SVC_ADMIN_KEY');
    expect(rotated).toMatchObject({ tier: 'admin', key_len: 43, fingerprint: fingerprint(key) });
    expect(rotated).toMatchObject({ applies_live: true, restart_required: false, session_preserved: true });
    expect(rotated.rotated_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(statSync(join(gateway.home, 'config/api.env')).mode & 0o777).toBe(0o600);
    const on = await ask(gateway, 'PUT', '/api/auth/require', { body: { require_auth: true } });
    expect(on.json<RequireView>()).toEqual({
      require_auth: true,
      persisted: true,
      source: 'file',
      applies_live: true,
    });
    expect(await ask(gateway, 'GET', '/api/settings')).toMatchObject({ status: 401 });
    expect((await ask(gateway, 'GET', '/api/settings', { key })).status).toBe(200);
    const off = await ask(gateway, 'PUT', '/api/auth/require', { key, body: { require_auth: false } });
    expect(off.json()).toMatchObject({ require_auth: false });
    expect((await ask(gateway, 'GET', '/api/settings')).status).toBe(200);
  });

  it('turning enforcement off takes an admin', async () => {
    const gateway = await start({
      files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = true\n' },
    });
    const body = { require_auth: false };
    expect(await ask(gateway, 'PUT', '/api/auth/require', { body })).toMatchObject({ status: 401 });
    expect(await ask(gateway, 'PUT', '/api/auth/require', { body, key: CLIENT_KEY })).toMatchObject({
      status: 403,
    });
    expect((await ask(gateway, 'PUT', '/api/auth/require', { body, key: ADMIN_KEY })).status).toBe(200);
  });
});

describe('enforcement: environment, then file, then off', () => {
  it('PUT require under an environment override keeps the effective value and says so', async () => {
    const gateway = await locked();
    const answer = await ask(gateway, 'PUT', '/api/auth/require', {
      key: ADMIN_KEY,
      body: { require_auth: false },
    });
    expect(answer.json()).toEqual({
      require_auth: true,
      persisted: false,
      source: 'env',
      applies_live: true,
    });
    expect(await status(gateway)).toMatchObject({ auth_required: true });
  });

  it.each([
    ['1', true],
    ['TRUE', true],
    [' yes ', true],
    ['on', true],
    ['0', false],
    ['False', false],
    ['no', false],
    ['off', false],
    ['', false],
    ['maybe', true],
  ])('SVC_REQUIRE_AUTH=%j is %s', async (word, expected) => {
    const gateway = await start({ files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: word } });
    expect(await status(gateway)).toMatchObject({ auth_required: expected });
  });

  it('on without an admin key fails closed: only open and bootstrap answer, and the start line says what to do', async () => {
    const gateway = await start({ env: { SVC_REQUIRE_AUTH: 'on' } });
    expect(gateway.output()).toContain('SVC_ADMIN_KEY');
    expect((await ask(gateway, 'GET', '/api/health')).status).toBe(200);
    expect((await ask(gateway, 'GET', '/api/setup')).status).toBe(200);
    expect((await ask(gateway, 'POST', '/v1/chat/completions', { body: {} })).status).toBe(401);
    expect((await ask(gateway, 'POST', '/api/auth/rotate')).status).toBe(401);
  });

  it('F05 a require body of another shape changes nothing', async () => {
    const gateway = await start({ files: KEYS_FILE });
    for (const value of ['true', 1, null, [], {}]) {
      const answer = await ask(gateway, 'PUT', '/api/auth/require', { body: { require_auth: value } });
      expect(answer).toMatchObject({ status: 422, code: 'request.invalid' });
    }
    expect(await status(gateway)).toMatchObject({ auth_required: false });
  });

  it('F06 turned on and off under load: what is acknowledged rules the next request, and none is judged by both', async () => {
    const gateway = await start({ files: KEYS_FILE });
    const state = { over: false, odd: [] as string[], asked: 0 };
    const caller = async () => {
      while (!state.over) {
        const answer = await ask(gateway, 'GET', '/api/settings');
        state.asked += 1;
        const whole = answer.status === 200 ? 'settings' in answer.json() : answer.code === 'auth.required';
        if (!whole) state.odd.push(`${answer.status} ${answer.text.slice(0, 100)}`);
      }
    };
    const callers = Array.from({ length: 4 }, caller);
    for (let turn = 0; turn < scale(1000); turn++) {
      for (const on of [true, false]) {
        const body = { require_auth: on };
        expect((await ask(gateway, 'PUT', '/api/auth/require', { key: ADMIN_KEY, body })).status).toBe(200);
        expect((await ask(gateway, 'GET', '/api/settings')).status).toBe(on ? 401 : 200);
        expect((await ask(gateway, 'GET', '/api/settings', { key: ADMIN_KEY })).status).toBe(200);
      }
    }
    state.over = true;
    await Promise.all(callers);
    expect(state.odd).toEqual([]);
    expect(state.asked).toBeGreaterThan(10);
  });

  it('F01/F03 a broken config.toml never turns enforcement off, running or at a cold start', async () => {
    const gateway = await startGateway({
      files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = true\n' },
    });
    expect(await status(gateway)).toMatchObject({ auth_required: true });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(gateway.home, 'config/config.toml'), '[security\nrequire_auth = ');
    gateway.signal('SIGHUP');
    await gateway.waitFor('config.toml');
    expect(await status(gateway)).toMatchObject({ auth_required: true });
    await gateway.stop();
    const again = await start({ home: gateway.home });
    expect(await status(again)).toMatchObject({ auth_required: true });
    expect(again.output()).toMatch(/config\.toml:\d+/);
  });
});

describe('sessions', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({
      files: { ...KEYS_FILE, 'config/config.toml': WIDE_LIMIT },
      env: { SVC_REQUIRE_AUTH: 'on' },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    gateway.remove();
  });

  it('K13 login sets the cookie with exactly the attributes of the spec', async () => {
    const answer = await ask(gateway, 'POST', '/api/auth/login', { body: { key: ADMIN_KEY } });
    expect(answer.json()).toEqual({ ok: true, tier: 'admin' });
    const [cookie = '', ...attributes] = String(answer.headers['set-cookie']).split('; ');
    expect(cookie).toMatch(/^svc_session=[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Lax']);
    const payload = JSON.parse(
      Buffer.from(cookie.slice('svc_session='.length).split('.')[0] ?? '', 'base64url').toString(),
    );
    expect(Object.keys(payload).sort()).toEqual(['expires_at', 'session_id']);
    expect(payload.expires_at - Date.now() / 1000).toBeGreaterThan(28_790);
    expect(payload.expires_at - Date.now() / 1000).toBeLessThan(28_810);
  });

  it('K13 two logins are two sessions; a session is never client', async () => {
    const [first, second] = [await login(gateway, ADMIN_KEY), await login(gateway, ADMIN_KEY)];
    expect(first).not.toBe(second);
    expect(await status(gateway, { cookie: first, key: CLIENT_KEY })).toMatchObject({ tier: 'admin' });
  });

  it('rule 2 and D15: wrong, client and missing keys', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    for (const key of ['wrong', CLIENT_KEY, '', 'undefined']) {
      const answer = await ask(gateway, 'POST', '/api/auth/login', { body: { key }, cookie });
      expect(answer).toMatchObject({ status: 401, code: 'auth.invalid_key' });
    }
    for (const body of [{}, { key: 1 }, { key: null }, []]) {
      expect(await ask(gateway, 'POST', '/api/auth/login', { body })).toMatchObject({
        status: 422,
        code: 'request.invalid',
      });
    }
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'admin' });
  });

  it('K09 logout ends the session on the server, across a restart', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const out = await ask(gateway, 'POST', '/api/auth/logout', { cookie });
    expect(out.json()).toEqual({ ok: true });
    expect(String(out.headers['set-cookie'])).toMatch(/^svc_session=;.*Max-Age=0/);
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
    const kept = await login(gateway, ADMIN_KEY);
    await gateway.stop();
    gateway = await startGateway({ home: gateway.home, env: { SVC_REQUIRE_AUTH: 'on' } });
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
    expect(await status(gateway, { cookie: kept })).toMatchObject({ tier: 'admin' });
  });

  it('the session list shows the own one, and "end all" ends them all', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const rows = (await ask(gateway, 'GET', '/api/auth/sessions', { cookie })).json<SessionRow[]>();
    expect(rows.filter((row) => row.current)).toHaveLength(1);
    expect(rows.every((row) => row.id8.length === 8)).toBe(true);
    expect((await ask(gateway, 'POST', '/api/auth/sessions/end', { cookie })).json()).toEqual({ ok: true });
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
  });

  it('K10 a session survives rotation of either key', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    expect(
      (await ask(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier: 'client' } })).status,
    ).toBe(200);
    expect((await ask(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier: 'admin' } })).status).toBe(
      200,
    );
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'admin' });
    expect(await status(gateway, { key: ADMIN_KEY })).toMatchObject({ tier: 'anon' });
    expect(await status(gateway, { key: keyIn(gateway, 'SVC_ADMIN_KEY') })).toMatchObject({ tier: 'admin' });
    expect(await status(gateway, { key: keyIn(gateway, 'SVC_CLIENT_KEY') })).toMatchObject({
      tier: 'client',
    });
  });
});

describe('tier resolution, in the order of the spec', () => {
  let gateway: Gateway;
  let cookie: string;
  beforeAll(async () => {
    gateway = await startGateway({ files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: 'on' } });
    cookie = await login(gateway, ADMIN_KEY);
  });
  afterAll(async () => {
    await gateway.stop();
    gateway.remove();
  });
  const tier = async (path: string, options: Parameters<typeof ask>[3] = {}) =>
    (await ask(gateway, 'GET', `/api/auth/status${path}`, options)).json().tier;
  const bearer = (value: string) => ({ headers: { authorization: value } });

  it('T01 valid cookie + client Bearer → admin', async () =>
    expect(await tier('', { cookie, key: CLIENT_KEY })).toBe('admin'));
  it('T02 an invalid cookie falls through', async () => {
    const broken = `${cookie}x`;
    expect(await tier('', { cookie: broken, key: ADMIN_KEY })).toBe('admin');
    expect(await tier('', { cookie: broken, key: CLIENT_KEY })).toBe('client');
    expect(await tier('', { cookie: broken })).toBe('anon');
  });
  it('T03 a wrong Bearer falls through to api_key', async () =>
    expect(await tier(`?api_key=${CLIENT_KEY}`, { key: 'wrong' })).toBe('client'));
  it('T04 Bearer wins over api_key', async () =>
    expect(await tier(`?api_key=${ADMIN_KEY}`, { key: CLIENT_KEY })).toBe('client'));
  it.each([`bearer ${CLIENT_KEY}`, `BEARER ${CLIENT_KEY}`, `Bearer  ${CLIENT_KEY}`, `Bearer\t${CLIENT_KEY}`])(
    'T05 takes %j',
    async (value) => expect(await tier('', bearer(value))).toBe('client'),
  );
  it.each([
    'Bearer',
    'Bearer ',
    `BearerX ${CLIENT_KEY}`,
    `Basic ${CLIENT_KEY}`,
    `Bearer ${CLIENT_KEY}, Bearer ${ADMIN_KEY}`,
  ])('T05 ignores %j', async (value) => expect(await tier('', bearer(value))).toBe('anon'));
  it('T08 empty values never match', async () => {
    expect(await tier('?api_key=')).toBe('anon');
    expect(await tier('?api_key=undefined')).toBe('anon');
    expect(await tier('?api_key=null')).toBe('anon');
  });
  it('T13 other carriers are ignored, and x-api-key is told what to do', async () => {
    for (const name of ['x-api-key', 'api-key', 'proxy-authorization', 'sec-websocket-protocol']) {
      expect(await tier('', { headers: { [name]: ADMIN_KEY } })).toBe('anon');
    }
    const answer = await ask(gateway, 'GET', '/api/slots', { headers: { 'x-api-key': ADMIN_KEY } });
    expect(answer.json<{ error: { message: string } }>().error.message).toContain('Bearer');
  });
  it('T13 an endless credential is refused or ignored', async () => {
    const long = 'k'.repeat(12_000);
    expect(await tier('', { key: long })).toBe('anon');
    const huge = await rawExchange(
      gateway,
      `GET /api/auth/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${'k'.repeat(70_000)}\r\n\r\n`,
    );
    expect(huge).toMatch(/^HTTP\/1\.1 431/);
  });
  it('T15 with enforcement off the tier is still told truthfully', async () => {
    const open = await start({ files: KEYS_FILE });
    expect(await status(open, { key: CLIENT_KEY })).toMatchObject({ tier: 'client', auth_required: false });
    expect(await status(open, { key: 'wrong' })).toMatchObject({ tier: 'anon' });
    expect((await ask(open, 'GET', '/api/settings', { key: 'wrong' })).status).toBe(200);
  });
});

describe('rotate', () => {
  it('R01/R02 needs an admin, takes only the two tiers, and never returns the key', async () => {
    const gateway = await locked();
    expect(await ask(gateway, 'POST', '/api/auth/rotate')).toMatchObject({ status: 401 });
    expect(await ask(gateway, 'POST', '/api/auth/rotate', { key: CLIENT_KEY })).toMatchObject({
      status: 403,
    });
    const before = envFile(gateway);
    for (const tier of ['root', 1, null, []]) {
      expect(
        (await ask(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, body: { tier } })).status,
      ).toBe(422);
    }
    expect(envFile(gateway)).toBe(before);
    const answer = await ask(gateway, 'POST', '/api/auth/rotate', {
      key: ADMIN_KEY,
      body: { tier: 'client' },
    });
    const key = keyIn(gateway, 'SVC_CLIENT_KEY');
    const view = answer.json<RotateView>();
    expect(view).toMatchObject({ tier: 'client', key_len: key.length, fingerprint: fingerprint(key) });
    expect(view.note).toMatch(/environment file/);
    for (let at = 0; at + 6 <= key.length; at++) expect(answer.text).not.toContain(key.slice(at, at + 6));
    expect(gateway.output()).not.toContain(key);
  });

  it('R03 the old key stops with the next request of an open connection', async () => {
    const gateway = await locked();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      expect((await ask(gateway, 'GET', '/api/slots', { key: ADMIN_KEY, agent })).status).toBe(200);
      expect((await ask(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, agent })).status).toBe(200);
      expect((await ask(gateway, 'GET', '/api/slots', { key: ADMIN_KEY, agent })).status).toBe(401);
      const key = keyIn(gateway, 'SVC_ADMIN_KEY');
      expect((await ask(gateway, 'GET', '/api/slots', { key, agent })).status).toBe(200);
    } finally {
      agent.destroy();
    }
  });

  it('R04 sixteen at once are serialised: the file equals what is live, both tiers', async () => {
    const gateway = await locked();
    const cookie = await login(gateway, ADMIN_KEY);
    const tiers = Array.from({ length: 16 }, (_, index) => (index % 2 ? 'client' : 'admin'));
    const views = await Promise.all(
      tiers.map(async (tier) =>
        (await ask(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier } })).json<RotateView>(),
      ),
    );
    for (const tier of ['admin', 'client'] as const) {
      const key = keyIn(gateway, tier === 'admin' ? 'SVC_ADMIN_KEY' : 'SVC_CLIENT_KEY');
      expect(views.filter((view) => view.tier === tier).map((view) => view.fingerprint)).toContain(
        fingerprint(key),
      );
      expect(await status(gateway, { key })).toMatchObject({ tier });
    }
    expect(envFile(gateway).match(/^SVC_/gm)).toHaveLength(2);
  });

  it('R07 every other byte of the file stays', async () => {
    const text = `\ufeff# my keys\r\nOTHER="a b"\r\n\r\nSVC_ADMIN_KEY=${ADMIN_KEY}\r\nexport X=1\r\n; done`;
    const gateway = await start({ files: { 'config/api.env': text } });
    expect((await ask(gateway, 'POST', '/api/auth/rotate')).status).toBe(200);
    expect(envFile(gateway)).toBe(text.replace(ADMIN_KEY, keyIn(gateway, 'SVC_ADMIN_KEY').trim()));
  });

  it('a rotated key rules after a restart, also over an inherited one', async () => {
    const gateway = await start({ env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_REQUIRE_AUTH: 'on' } });
    expect((await ask(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY })).status).toBe(200);
    expect(await status(gateway, { key: ADMIN_KEY })).toMatchObject({ tier: 'anon' });
    const key = keyIn(gateway, 'SVC_ADMIN_KEY');
    await gateway.stop();
    const again = await start({
      home: gateway.home,
      env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_REQUIRE_AUTH: 'on' },
    });
    expect(await status(again, { key })).toMatchObject({ tier: 'admin' });
    expect(await status(again, { key: ADMIN_KEY })).toMatchObject({ tier: 'anon' });
  });

  it('an audit row names tier and fingerprint', async () => {
    const gateway = await locked();
    await ask(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, body: { tier: 'client' } });
    const audit = (await ask(gateway, 'GET', '/api/audit', { key: ADMIN_KEY })).text;
    expect(audit).toContain(fingerprint(keyIn(gateway, 'SVC_CLIENT_KEY')));
    expect(audit).not.toContain(keyIn(gateway, 'SVC_CLIENT_KEY'));
  });
});

describe('the signing secret', () => {
  it('K11 is 32 bytes, mode 0600, made at the first start and kept', async () => {
    const gateway = await start({ files: KEYS_FILE });
    const path = join(gateway.home, 'state/secret.bin');
    expect(existsSync(path)).toBe(true);
    expect(statSync(path).size).toBe(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
