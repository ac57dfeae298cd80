/**
 * docs/spec/specification.md#tier-resolution: a fresh install, and the tier of a caller, over a real port.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequireView, RotateView } from '../contract/auth.ts';
import { fingerprint, keyIn, start, status } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY, KEYS_FILE, startLocked } from './harness/gateway.ts';
import { login, rawExchange, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

describe('a fresh install', () => {
  it('has no admin key and enforcement off; every route is open', async () => {
    const gateway = await start();
    expect(await status(gateway)).toEqual({ auth_required: false, has_admin_key: false, tier: 'anon' });
    expect((await send(gateway, 'GET', '/api/settings')).status).toBe(200);
    expect(await send(gateway, 'POST', '/api/auth/login', { body: { key: 'x' } })).toMatchObject({
      code: 'auth.invalid_key',
    });
  });

  it('rule 5: require without an admin key is 400 auth.no_admin_key and stays off', async () => {
    const gateway = await start();
    const response = await send(gateway, 'PUT', '/api/auth/require', { body: { require_auth: true } });
    expect(response).toMatchObject({ status: 400, code: 'auth.no_admin_key' });
    expect(await status(gateway)).toMatchObject({ auth_required: false });
  });

  it('the enabling steps of the specification: rotate, require, Bearer', async () => {
    const gateway = await start();
    const rotated = (await send(gateway, 'POST', '/api/auth/rotate')).json<RotateView>();
    const key = keyIn(gateway, 'SVC_ADMIN_KEY');
    expect(rotated).toMatchObject({ tier: 'admin', key_len: 43, fingerprint: fingerprint(key) });
    expect(rotated).toMatchObject({ applies_live: true, restart_required: false, session_preserved: true });
    expect(rotated.rotated_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(statSync(join(gateway.home, 'config/api.env')).mode & 0o777).toBe(0o600);
    const on = await send(gateway, 'PUT', '/api/auth/require', { body: { require_auth: true } });
    expect(on.json<RequireView>()).toEqual({
      require_auth: true,
      persisted: true,
      source: 'file',
      applies_live: true,
    });
    expect(await send(gateway, 'GET', '/api/settings')).toMatchObject({ status: 401 });
    expect((await send(gateway, 'GET', '/api/settings', { key })).status).toBe(200);
    const off = await send(gateway, 'PUT', '/api/auth/require', { key, body: { require_auth: false } });
    expect(off.json()).toMatchObject({ require_auth: false });
    expect((await send(gateway, 'GET', '/api/settings')).status).toBe(200);
  });

  it('turning enforcement off takes an admin', async () => {
    const gateway = await start({
      files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = true\n' },
    });
    const body = { require_auth: false };
    expect(await send(gateway, 'PUT', '/api/auth/require', { body })).toMatchObject({ status: 401 });
    expect(await send(gateway, 'PUT', '/api/auth/require', { body, key: CLIENT_KEY })).toMatchObject({
      status: 403,
    });
    expect((await send(gateway, 'PUT', '/api/auth/require', { body, key: ADMIN_KEY })).status).toBe(200);
  });
});

describe('docs/spec/contract.md#verify-presented-keys', () => {
  it('answers 401 to a wrong key on the model list, with the header that stops retries', async () => {
    const gateway = await start({
      files: { ...KEYS_FILE, 'config/config.toml': '[security]\nverify_presented_keys = true\n' },
    });
    for (const path of ['/v1/models', '/v1/models/agent', '/v1/models?api_key=wrong']) {
      const refused = await send(gateway, 'GET', path, path.includes('?') ? {} : { key: 'wrong' });
      expect(refused).toMatchObject({ status: 401, code: 'auth.required' });
      expect(refused.headers['x-should-retry']).toBe('false');
    }
    expect((await send(gateway, 'GET', '/v1/models')).status).toBe(200);
    expect((await send(gateway, 'GET', '/v1/models', { key: CLIENT_KEY })).status).toBe(200);
    expect((await send(gateway, 'GET', '/api/health', { key: 'wrong' })).status).toBe(200);
  });
});

describe('docs/spec/contract.md#equal-keys', () => {
  it('a start with equal keys warns in banner and health, and the tier is admin', async () => {
    const gateway = await start({
      files: { 'config/api.env': `SVC_ADMIN_KEY=${ADMIN_KEY}\nSVC_CLIENT_KEY=${ADMIN_KEY}\n` },
    });
    expect(await status(gateway, { key: ADMIN_KEY })).toMatchObject({ tier: 'admin' });
    expect(gateway.output()).toMatch(/! api\.env:2: SVC_CLIENT_KEY equals SVC_ADMIN_KEY/);
    const health = (await send(gateway, 'GET', '/api/health/system')).json<{
      checks: Record<string, { status: string; message: string }>;
    }>();
    expect(health.checks.configuration).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('The client key equals the admin key'),
    });
    expect(gateway.output()).not.toContain(ADMIN_KEY);
    await send(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, body: { tier: 'client' } });
    expect((await send(gateway, 'GET', '/api/settings', { key: ADMIN_KEY })).json()).toMatchObject({
      problems: [],
    });
  });
});

describe('tier resolution, in the specified order', () => {
  const gateway = new OneGateway(startLocked);
  let cookie: string;
  beforeAll(async () => {
    cookie = await login(gateway, ADMIN_KEY);
  });
  const tier = async (path: string, options: Parameters<typeof send>[3] = {}) =>
    (await send(gateway, 'GET', `/api/auth/status${path}`, options)).json().tier;
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
    'T05 accepts %j',
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
  it('T13 keys in other headers are ignored, and the error for x-api-key names the right header', async () => {
    for (const name of ['x-api-key', 'api-key', 'proxy-authorization', 'sec-websocket-protocol']) {
      expect(await tier('', { headers: { [name]: ADMIN_KEY } })).toBe('anon');
    }
    const response = await send(gateway, 'GET', '/api/slots', { headers: { 'x-api-key': ADMIN_KEY } });
    expect(response.json<{ error: { message: string } }>().error.message).toContain('Bearer');
  });
  it('T13 an oversized credential is rejected or ignored', async () => {
    const long = 'k'.repeat(12_000);
    expect(await tier('', { key: long })).toBe('anon');
    const huge = await rawExchange(
      gateway,
      `GET /api/auth/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${'k'.repeat(70_000)}\r\n\r\n`,
    );
    expect(huge).toMatch(/^HTTP\/1\.1 431/);
  });
  it('T15 with enforcement off the reported tier is still correct', async () => {
    const open = await start({ files: KEYS_FILE });
    expect(await status(open, { key: CLIENT_KEY })).toMatchObject({ tier: 'client', auth_required: false });
    expect(await status(open, { key: 'wrong' })).toMatchObject({ tier: 'anon' });
    expect((await send(open, 'GET', '/api/settings', { key: 'wrong' })).status).toBe(200);
  });
});
