/**
 * docs/spec/specification.md#session over a real port: cookies, logout, restarts, rotations, and the signing
 * secret.
 */
import { existsSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionRow } from '../contract/auth.ts';
import { keyIn, start, status } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY, KEYS_FILE, startLocked, WIDE_LIMIT } from './harness/gateway.ts';
import { login, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

describe('sessions', () => {
  const gateway = new OneGateway(() => startLocked({ files: { 'config/config.toml': WIDE_LIMIT } }));

  it('K13 login sets the cookie with exactly the attributes of the specification', async () => {
    const response = await send(gateway, 'POST', '/api/auth/login', { body: { key: ADMIN_KEY } });
    expect(response.json()).toEqual({ ok: true, tier: 'admin' });
    const [cookie = '', ...attributes] = String(response.headers['set-cookie']).split('; ');
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
      const response = await send(gateway, 'POST', '/api/auth/login', { body: { key }, cookie });
      expect(response).toMatchObject({ status: 401, code: 'auth.invalid_key' });
    }
    for (const body of [{}, { key: 1 }, { key: null }, []]) {
      expect(await send(gateway, 'POST', '/api/auth/login', { body })).toMatchObject({
        status: 422,
        code: 'request.invalid',
      });
    }
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'admin' });
  });

  it('K09 logout ends the session on the server, across a restart', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const out = await send(gateway, 'POST', '/api/auth/logout', { cookie });
    expect(out.json()).toEqual({ ok: true });
    expect(String(out.headers['set-cookie'])).toMatch(/^svc_session=;.*Max-Age=0/);
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
    const otherCookie = await login(gateway, ADMIN_KEY);
    await gateway.stop();
    await gateway.replace(() => startLocked({ home: gateway.home }));
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
    expect(await status(gateway, { cookie: otherCookie })).toMatchObject({ tier: 'admin' });
  });

  it('the session list marks the current session, and "end all" ends them all', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const rows = (await send(gateway, 'GET', '/api/auth/sessions', { cookie })).json<SessionRow[]>();
    expect(rows.filter((row) => row.current)).toHaveLength(1);
    expect(rows.every((row) => row.id8.length === 8)).toBe(true);
    expect((await send(gateway, 'POST', '/api/auth/sessions/end', { cookie })).json()).toEqual({ ok: true });
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'anon' });
  });

  it('K10 a session survives rotation of either key', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    expect(
      (await send(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier: 'client' } })).status,
    ).toBe(200);
    expect(
      (await send(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier: 'admin' } })).status,
    ).toBe(200);
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'admin' });
    expect(await status(gateway, { key: ADMIN_KEY })).toMatchObject({ tier: 'anon' });
    expect(await status(gateway, { key: keyIn(gateway, 'SVC_ADMIN_KEY') })).toMatchObject({ tier: 'admin' });
    expect(await status(gateway, { key: keyIn(gateway, 'SVC_CLIENT_KEY') })).toMatchObject({
      tier: 'client',
    });
  });
});

describe('the signing secret', () => {
  it('that cannot be rewritten is an error, and no session ends', async () => {
    const gateway = await start({ files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: 'on' } });
    const cookie = await login(gateway, ADMIN_KEY);
    const path = join(gateway.home, 'state/secret.bin');
    unlinkSync(path);
    mkdirSync(path);
    const response = await send(gateway, 'POST', '/api/auth/sessions/end', { cookie });
    expect(response).toMatchObject({ status: 500, code: 'config.write_failed' });
    expect(await status(gateway, { cookie })).toMatchObject({ tier: 'admin' });
  });

  it('K11 is 32 bytes, mode 0600, created at the first start and reused', async () => {
    const gateway = await start({ files: KEYS_FILE });
    const path = join(gateway.home, 'state/secret.bin');
    expect(existsSync(path)).toBe(true);
    expect(statSync(path).size).toBe(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
