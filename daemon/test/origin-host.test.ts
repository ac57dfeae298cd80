/**
 * docs/spec/specification.md#origin-check and docs/spec/contract.md#host-check: which browser pages may call
 * the gateway, over a real port.
 */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  ADMIN_KEY,
  type Gateway,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  startLocked,
  WIDE_LIMIT,
} from './harness/gateway.ts';
import { login, rawExchange, type SendOptions, send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { handshake, socketResult } from './harness/socket.ts';

const FOREIGN = 'https://evil.attacker.org';

const LISTED = [
  'https://chat.mydomain.org',
  'https://listed.mydomain.org:8443/some/path/',
  'chrome-extension://abcdef',
  'app://obsidian',
];
const files = { ...KEYS_FILE, ...QUIET_FILE, 'config/config.toml': WIDE_LIMIT };

/** Enforcement on, with listed origins; enforcement off, with a listed host and a listed proxy. */
const on = new OneGateway(() => startLocked({ files, env: { SVC_ALLOWED_ORIGINS: LISTED.join(', ') } }));
const off = new OneGateway(() =>
  startGateway({
    files,
    env: { SVC_ALLOWED_ORIGINS: 'https://proxy.mydomain.org', SVC_ALLOWED_HOSTS: 'gateway.mydomain.org' },
  }),
);

/** A state-changing call that needs no credential: only the Origin rules can reject it. */
const post = (gateway: Gateway, headers: Record<string, string | string[]>) =>
  send(gateway, 'POST', '/api/auth/logout', { headers });

const logout = (host: string, origin: string) =>
  rawExchange(
    on,
    Buffer.from(
      `POST /api/auth/logout HTTP/1.1\r\nhost: ${host}\r\norigin: ${origin}\r\nconnection: close\r\n\r\n`,
    ),
  );

describe('the four rules', () => {
  it('O01 no Origin is allowed; an empty one, null and two are not', async () => {
    expect((await post(on, {})).status).toBe(200);
    const forbidden = { status: 403, code: 'auth.origin_forbidden' };
    expect(await post(on, { origin: '' })).toMatchObject(forbidden);
    expect(await post(on, { origin: 'null' })).toMatchObject(forbidden);
    const twice = 'origin: http://127.0.0.1\r\norigin: http://127.0.0.1\r\n';
    const raw = `POST /api/auth/logout HTTP/1.1\r\nhost: 127.0.0.1\r\n${twice}connection: close\r\n\r\n`;
    expect(await rawExchange(on, raw)).toMatch(/^HTTP\/1\.1 403/);
  });

  it.each([
    ['h.lan:8080', 'http://h.lan:8080'],
    ['h.lan:80', 'http://h.lan'],
    ['h.lan', 'http://h.lan:80'],
    ['h.lan:443', 'https://h.lan'],
    ['h.lan', 'https://h.lan'],
    ['H.Lan', 'http://h.lan'],
    ['h.lan', 'HTTP://H.LAN'],
    ['h.lan.', 'http://h.lan'],
    ['xn--bcher-kva.lan', 'http://bücher.lan'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080'],
  ])('O03/O04 Host %s accepts Origin %s', async (host, origin) =>
    expect(await logout(host, origin)).toMatch(/^HTTP\/1\.1 200/),
  );

  it.each([
    ['h.lan:8080', 'http://h.lan:9090'],
    ['h.lan:8080', 'http://h.lan'],
    ['h.lan', 'http://h.lan:8080'],
    ['h.lan:443', 'http://h.lan'],
    ['h.lan', 'http://other.lan'],
    ['h.lan', 'http://h.lan.attacker.org'],
    ['h.lan', 'http://user@h.lan'],
    ['h.lan', 'http://h.lan/path'],
    ['h.lan', 'h.lan'],
    ['127.0.0.1', 'http://127.1'],
    ['h.lan', 'ws://h.lan'],
  ])('O03/O04 Host %s rejects Origin %s', async (host, origin) =>
    expect(await logout(host, origin)).toMatch(/^HTTP\/1\.1 403/),
  );

  it.each([
    ['https://chat.mydomain.org', 200],
    ['https://CHAT.mydomain.org', 200],
    ['https://chat.mydomain.org:443', 200],
    ['http://chat.mydomain.org', 403],
    ['https://chat.mydomain.org:8443', 403],
    ['https://sub.chat.mydomain.org', 403],
    ['https://listed.mydomain.org:8443', 200],
    ['https://listed.mydomain.org', 403],
    ['chrome-extension://abcdef', 200],
    ['chrome-extension://other', 403],
    ['app://obsidian', 200],
    ['tauri://localhost', 403],
  ])('O07 listed origins match exactly: %s → %i', async (origin, status) =>
    expect((await post(on, { origin })).status).toBe(status),
  );

  it('O07 * in the list is rejected at load: no foreign origin is allowed, and the output names the setting', async () => {
    const gateway = await forTest(
      startGateway({
        files: { ...KEYS_FILE, ...QUIET_FILE },
        env: { SVC_ALLOWED_ORIGINS: '*' },
      }),
    );
    expect(gateway.output()).toContain('SVC_ALLOWED_ORIGINS');
    expect((await post(gateway, { origin: FOREIGN })).status).toBe(403);
  });

  it('O10 a bad Origin without credentials is 403 for the Origin, not 401', async () => {
    const response = await send(on, 'POST', '/api/auth/rotate', { headers: { origin: FOREIGN } });
    expect(response).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    const wrong = await send(on, 'PUT', '/api/nowhere', { headers: { origin: FOREIGN }, key: ADMIN_KEY });
    expect(wrong.code).toBe('auth.origin_forbidden');
  });

  it('O11 GET with a foreign Origin is answered without CORS; X-Forwarded-Host is ignored', async () => {
    const read = await send(on, 'GET', '/api/auth/status', { headers: { origin: FOREIGN } });
    expect(read.status).toBe(200);
    expect(read.headers['access-control-allow-origin']).toBeUndefined();
    for (const name of ['x-forwarded-host', 'x-original-host', 'forwarded']) {
      const value = name === 'forwarded' ? 'host=evil.attacker.org' : 'evil.attacker.org';
      expect((await post(on, { origin: FOREIGN, [name]: value })).status).toBe(403);
    }
  });

  it('O17 another app on this host is another origin: its port counts, with or without a cookie', async () => {
    const cookie = await login(on, ADMIN_KEY);
    const headers = { origin: `http://127.0.0.1:${on.port + 1}` };
    expect(await send(on, 'POST', '/api/auth/rotate', { cookie, headers })).toMatchObject({
      status: 403,
      code: 'auth.origin_forbidden',
    });
    const own = { origin: `http://127.0.0.1:${on.port}` };
    expect((await send(on, 'POST', '/api/auth/logout', { cookie, headers: own })).status).toBe(200);
    const read = await send(on, 'GET', '/api/health', { headers });
    expect(read.headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  it.each([
    ['POST', '/api/auth/rotate'],
    ['PUT', '/api/auth/require'],
    ['PATCH', '/api/settings'],
    ['DELETE', '/api/memory/example'],
  ])('O18 %s is covered, before tier, class and body', async (method, path) => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=b',
    ]) {
      const foreign: SendOptions = {
        headers: { origin: FOREIGN, 'content-type': type },
        body: 'a=b',
        key: ADMIN_KEY,
      };
      expect((await send(on, method, path, foreign)).code).toBe('auth.origin_forbidden');
    }
  });

  it('O18 a form post from the own origin passes the Origin check and fails on its type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=b',
    ]) {
      const headers = { origin: `http://127.0.0.1:${on.port}`, 'content-type': type };
      const response = await send(on, 'POST', '/api/auth/rotate', { headers, body: '{}', key: ADMIN_KEY });
      expect(response).toMatchObject({ status: 415, code: 'request.unsupported_type' });
    }
  });
});

describe('the Host check, enforcement off', () => {
  const rebound = (gateway: Gateway) => {
    const host = `www.attacker.org:${gateway.port}`;
    return { host, origin: `http://${host}` };
  };

  it('O14 a rebound name is rejected on GET, PUT and an upgrade, and the message names the setting', async () => {
    const headers = rebound(off);
    const body = { require_auth: false };
    for (const response of [
      await send(off, 'GET', '/api/status', { headers }),
      await send(off, 'GET', '/', { headers }),
      await send(off, 'PUT', '/api/auth/require', { headers, body }),
      await send(off, 'POST', '/v1/chat/completions', { headers, body: {} }),
    ]) {
      expect(response).toMatchObject({ status: 403, code: 'auth.host_forbidden' });
      expect(response.json<{ error: { message: string } }>().error.message).toContain('SVC_ALLOWED_HOSTS');
    }
    expect(await socketResult(off, '/v1/realtime', { headers })).toMatchObject({
      refused: 403,
      opened: false,
    });
    const raw = await rawExchange(off, handshake('/v1/realtime', headers));
    expect(raw).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(raw).toContain('"code":"auth.host_forbidden"');
  });

  it('O14 with enforcement on the name is only logged: the rebound page has no credential', async () => {
    const headers = rebound(on);
    expect((await send(on, 'GET', '/api/health', { headers })).status).toBe(200);
    expect((await send(on, 'GET', '/api/settings', { headers })).status).toBe(401);
    await on.waitFor('host.unlisted');
  });

  it.each([
    '127.0.0.1',
    '192.168.1.20:8080',
    '[::1]',
    '[fd00::1]:8080',
    'localhost',
    'LOCALHOST:9',
    'app.localhost',
    'dotless',
    hostname(),
    'name.local',
    'name.lan',
    'name.home',
    'name.home.arpa',
    'name.internal',
    'name.localdomain',
    'name.test',
    'name.example',
    'name.invalid',
    'www.example.com',
    'example.net',
    'name.local.',
    'gateway.mydomain.org',
    'gateway.mydomain.org:1234',
    'proxy.mydomain.org',
  ])('O15 serves %s by default or by configuration', async (host) =>
    expect((await send(off, 'GET', '/api/status', { headers: { host } })).status).toBe(200),
  );

  it.each([
    'attacker.org',
    'localhost.attacker.org',
    '127.0.0.1.attacker.org',
    'notlocalhost.org',
    'evil-example.com',
    'sub.gateway.mydomain.org',
    'mydomain.org',
    'stranger.tail1234.ts.net',
  ])('O15 rejects %s', async (host) =>
    expect(await send(off, 'GET', '/api/status', { headers: { host } })).toMatchObject({
      status: 403,
      code: 'auth.host_forbidden',
    }),
  );

  it.each([
    '',
    'a b',
    'user@h',
    'h:port',
    'h:99999',
    'h/../x',
    '127.1',
    '0x7f.1',
    'a..b',
    '[::1',
    '%31',
    'a,b',
  ])('a malformed Host (%j) is 400 with enforcement on and off', async (host) => {
    for (const gateway of [on, off]) {
      const raw = `GET /api/health HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
      const response = await rawExchange(gateway, raw);
      expect(response).toMatch(/^HTTP\/1\.1 400/);
      expect(response).toContain('"code":"request.malformed"');
    }
  });

  it('O16 behind a proxy that rewrites Host: 403 names SVC_ALLOWED_ORIGINS, which fixes it', async () => {
    const unlisted = await post(off, { origin: 'https://unlisted.mydomain.org' });
    expect(unlisted).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    expect(unlisted.json<{ error: { message: string } }>().error.message).toContain('SVC_ALLOWED_ORIGINS');
    expect((await post(off, { origin: 'https://proxy.mydomain.org' })).status).toBe(200);
    const headers = { host: 'proxy.mydomain.org', origin: 'https://proxy.mydomain.org' };
    expect((await post(off, headers)).status).toBe(200);
  });
});
