/** docs/spec/specification.md#rotate over a real port: keys are replaced while the gateway runs. */
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RotateView } from '../contract/auth.ts';
import { envFile, fingerprint, keyIn, locked, start, status } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { login, send } from './harness/http.ts';

describe('rotate', () => {
  it('R01/R02 needs an admin, accepts only the two tiers, and never returns the key', async () => {
    const gateway = await locked();
    expect(await send(gateway, 'POST', '/api/auth/rotate')).toMatchObject({ status: 401 });
    expect(await send(gateway, 'POST', '/api/auth/rotate', { key: CLIENT_KEY })).toMatchObject({
      status: 403,
    });
    const before = envFile(gateway);
    for (const tier of ['root', 1, null, []]) {
      expect(
        (await send(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, body: { tier } })).status,
      ).toBe(422);
    }
    expect(envFile(gateway)).toBe(before);
    const response = await send(gateway, 'POST', '/api/auth/rotate', {
      key: ADMIN_KEY,
      body: { tier: 'client' },
    });
    const key = keyIn(gateway, 'SVC_CLIENT_KEY');
    const view = response.json<RotateView>();
    expect(view).toMatchObject({ tier: 'client', key_len: key.length, fingerprint: fingerprint(key) });
    expect(view.note).toMatch(/environment file/);
    for (let at = 0; at + 6 <= key.length; at++) expect(response.text).not.toContain(key.slice(at, at + 6));
    expect(gateway.output()).not.toContain(key);
  });

  it('R03 the old key stops with the next request of an open connection', async () => {
    const gateway = await locked();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      expect((await send(gateway, 'GET', '/api/slots', { key: ADMIN_KEY, agent })).status).toBe(200);
      expect((await send(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, agent })).status).toBe(200);
      expect((await send(gateway, 'GET', '/api/slots', { key: ADMIN_KEY, agent })).status).toBe(401);
      const key = keyIn(gateway, 'SVC_ADMIN_KEY');
      expect((await send(gateway, 'GET', '/api/slots', { key, agent })).status).toBe(200);
    } finally {
      agent.destroy();
    }
  });

  it('R04 sixteen at once are serialised: the file has the live keys of both tiers', async () => {
    const gateway = await locked();
    const cookie = await login(gateway, ADMIN_KEY);
    const tiers = Array.from({ length: 16 }, (_, index) => (index % 2 ? 'client' : 'admin'));
    const views = await Promise.all(
      tiers.map(async (tier) =>
        (await send(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier } })).json<RotateView>(),
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

  it('R07 every other byte of the file is unchanged', async () => {
    const text = `\ufeff# my keys\r\nOTHER="a b"\r\n\r\nSVC_ADMIN_KEY=${ADMIN_KEY}\r\nexport X=1\r\n; done`;
    const gateway = await start({ files: { 'config/api.env': text } });
    expect((await send(gateway, 'POST', '/api/auth/rotate')).status).toBe(200);
    expect(envFile(gateway)).toBe(text.replace(ADMIN_KEY, keyIn(gateway, 'SVC_ADMIN_KEY').trim()));
  });

  it('a rotated key applies after a restart, also over an inherited one', async () => {
    const gateway = await start({ env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_REQUIRE_AUTH: 'on' } });
    expect((await send(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY })).status).toBe(200);
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
    await send(gateway, 'POST', '/api/auth/rotate', { key: ADMIN_KEY, body: { tier: 'client' } });
    const audit = (await send(gateway, 'GET', '/api/audit', { key: ADMIN_KEY })).text;
    expect(audit).toContain(fingerprint(keyIn(gateway, 'SVC_CLIENT_KEY')));
    expect(audit).not.toContain(keyIn(gateway, 'SVC_CLIENT_KEY'));
  });
});
