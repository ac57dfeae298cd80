/** Enforcement off with an admin key set: callers from other machines still need it on admin routes; public binds. */
import { rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ADMIN_KEY,
  CLIENT_KEY,
  KEYS_FILE,
  QUIET_FILE,
  refusedStart,
  startGateway,
  until,
} from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type SendOptions, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const OPEN_TO_ALL = '[security]\nallow_public_without_auth = true\n';
/** A non-loopback address of this machine: calls to it also come from it, so they count as remote. */
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find((each) => each.family === 'IPv4' && !each.internal)?.address;

const gateway = new OneGateway(() =>
  startGateway({
    files: { ...KEYS_FILE, ...QUIET_FILE, 'config/config.toml': OPEN_TO_ALL },
    env: { SVC_BIND_HOST: '0.0.0.0' },
  }),
);

const read = (path: string, options: SendOptions = {}) => send(gateway, 'GET', path, options);

async function configure(lines: string, active: () => Promise<boolean>): Promise<void> {
  writeFileSync(join(gateway.home, 'config/config.toml'), OPEN_TO_ALL + lines);
  gateway.signal('SIGHUP');
  await until(active, 'the new configuration');
}

describe.skipIf(address === undefined)('the remote-admin guard, from an address that is not loopback', () => {
  const remote = (options: SendOptions = {}): SendOptions => ({ ...options, to: address });

  it('admin routes need the admin tier, whatever the method', async () => {
    expect(await read('/api/settings', remote())).toMatchObject({ status: 401, code: 'auth.required' });
    expect(await read('/api/settings', remote({ key: CLIENT_KEY }))).toMatchObject({
      status: 403,
      code: 'auth.forbidden',
    });
    expect((await read('/api/settings', remote({ key: ADMIN_KEY }))).status).toBe(200);
    const body = { require_auth: true };
    expect((await send(gateway, 'PUT', '/api/auth/require', remote({ body }))).status).toBe(401);
    expect((await send(gateway, 'POST', '/api/auth/rotate', remote({ key: CLIENT_KEY }))).status).toBe(403);
  });

  it('unknown paths and wrong methods stay hidden', async () => {
    expect((await read('/api/nowhere', remote())).status).toBe(401);
    expect((await send(gateway, 'POST', '/v1/models', remote())).status).toBe(401);
    expect((await read('/api/nowhere', remote({ key: ADMIN_KEY }))).status).toBe(404);
  });

  it('open and client routes answer, and a wrong key is ignored', async () => {
    for (const path of ['/api/slots', '/v1/models', '/api/status']) {
      expect((await read(path, remote())).status).toBe(200);
      expect((await read(path, remote({ key: 'wrong' }))).status).toBe(200);
    }
    expect((await read('/api/auth/status', remote())).json()).toMatchObject({ tier: 'anon' });
  });

  it('a remote login opens the admin routes', async () => {
    const entered = await send(gateway, 'POST', '/api/auth/login', remote({ body: { key: ADMIN_KEY } }));
    const cookie = String(entered.headers['set-cookie']).split(';')[0] as string;
    expect((await read('/api/settings', remote({ cookie }))).status).toBe(200);
  });

  it('[security].guard_remote_admin = false disables it, and the default enables it again, live', async () => {
    const open = async () => (await read('/api/settings', remote())).status === 200;
    const guardSetting = async (path: string) =>
      (await read(path, remote({ key: ADMIN_KEY }))).json<{ guard_remote_admin: boolean }>()
        .guard_remote_admin;
    await configure('guard_remote_admin = false\n', open);
    expect([await guardSetting('/api/status'), await guardSetting('/api/setup')]).toEqual([false, false]);
    await configure('', async () => !(await open()));
    expect([await guardSetting('/api/status'), await guardSetting('/api/setup')]).toEqual([true, true]);
  });
});

describe('the remote-admin guard, from loopback', () => {
  it('lets a local caller through', async () => expect((await read('/api/settings')).status).toBe(200));

  it.each([
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['x-forwarded-host', 'gw.lan'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'for=127.0.0.1'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '127.0.0.1'],
  ])('counts a request with %s as remote: a proxy forwards for another client', async (name, value) => {
    const headers = { [name]: value };
    expect(await read('/api/settings', { headers })).toMatchObject({ status: 401, code: 'auth.required' });
    expect((await read('/api/settings', { headers, key: ADMIN_KEY })).status).toBe(200);
    expect((await read('/api/slots', { headers })).status).toBe(200);
  });

  it('with trust on, the forwarded address decides', async () => {
    const forwarded = async (value: string) =>
      (await read('/api/settings', { headers: { 'x-forwarded-for': value } })).status;
    await configure('trust_forwarded_for = true\n', async () => (await forwarded('127.0.0.1')) === 200);
    expect(await forwarded('::1')).toBe(200);
    expect(await forwarded('203.0.113.9')).toBe(401);
    expect(await forwarded('127.0.0.1, 192.168.1.7')).toBe(401);
    expect(await forwarded('garbage')).toBe(401);
    expect((await read('/api/settings', { headers: { via: '1.1 proxy' } })).status).toBe(401);
    await configure('', async () => (await forwarded('127.0.0.1')) === 401);
  });
});

describe('an exposed listener', () => {
  it('is reported at the start, in the log and in the health response', async () => {
    expect(gateway.output()).toContain('anyone who reaches it can use it');
    await gateway.waitFor('"event":"exposed"');
    const health = (await read('/api/health/system')).json<{ checks: Record<string, { status: string }> }>();
    expect(health.checks.exposure).toMatchObject({ status: 'warning' });
  });

  const startAndFail = async (env: Record<string, string>, files: Record<string, string> = {}) => {
    const home = newHome();
    const result = await refusedStart({ home, env, files: { ...QUIET_FILE, ...files } });
    rmSync(home, { recursive: true, force: true });
    return result;
  };

  it('on a public address does not start while enforcement is off, and names the setting', async () => {
    const { code, text } = await startAndFail({ SVC_BIND_HOST: '8.8.8.8' });
    expect(code).toBe(1);
    expect(text).toMatch(
      /^svc-gateway: 8\.8\.8\.8 is reachable from the internet and enforcement is off\.$/m,
    );
    expect(text).toContain('allow_public_without_auth');
  });

  it('on a public address is allowed by the setting or by enforcement: it fails here only because the address is not local', async () => {
    const byFile = await startAndFail({ SVC_BIND_HOST: '8.8.8.8' }, { 'config/config.toml': OPEN_TO_ALL });
    expect(byFile.text).toContain('Cannot listen on 8.8.8.8');
    const byKey = await startAndFail({ SVC_BIND_HOST: '8.8.8.8', SVC_REQUIRE_AUTH: 'on' }, KEYS_FILE);
    expect(byKey.text).toContain('Cannot listen on 8.8.8.8');
  });
});
