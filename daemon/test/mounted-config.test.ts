/**
 * docs/spec/contract.md#read-only-config and files of the configuration folder that are mounts of their own, over a
 * real port, with real mounts in a mount namespace of the gateway's own.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { start } from './harness/auth-gateways.ts';
import { ADMIN_KEY, KEYS_FILE, startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const namespace = process.getuid?.() === 0 ? '-m' : '-Urm';
const canMount = spawnSync('unshare', [namespace, 'true']).status === 0;
if (!canMount) console.info('skipped: this machine does not permit mount namespaces');

const SLOT = 'config/slots/own.toml';
const FILES = {
  ...KEYS_FILE,
  'config/config.toml': '[inference]\nidle_timeout_s = 500\n',
  [SLOT]: 'autoload = false\nmodel = "none"\n',
};
const bindMounted = (path: string) => `mount --bind "$SVC_HOME/${path}" "$SVC_HOME/${path}"`;
const READ_ONLY = `${bindMounted('config')}\nmount -o remount,ro,bind "$SVC_HOME/config"`;

/** Each request changes a file of the configuration folder. */
const CHANGES: readonly (readonly [what: string, method: string, path: string, body: object])[] = [
  ['a setting', 'PUT', '/api/settings', { values: { idleTimeoutS: 400 } }],
  ['enforcement', 'PUT', '/api/auth/require', { require_auth: true }],
  ['a slot', 'PUT', '/api/slots/own', { context: 4096 }],
  ['a new slot', 'POST', '/api/slots', { name: 'fresh', type: 'llm' }],
  ['the removal of a slot', 'DELETE', '/api/slots/own', {}],
  ['a secret', 'PUT', '/api/settings/secrets/HF_TOKEN', { value: 'hf_geheim' }],
  ['a new upstream', 'POST', '/api/upstreams', { name: 'desk', base_url: 'http://127.0.0.1:9/v1' }],
];

describe.runIf(canMount)('a read-only configuration folder', () => {
  const gateway = new OneGateway(() => startGateway({ files: FILES, mounts: READ_ONLY }));

  it('starts with its settings, keys and slots, and the banner says so', async () => {
    expect(gateway.output()).toMatch(/Configuration {2}\S+\/config \(read-only\)/);
    const settings = await gateway.sendAsAdmin('GET', '/api/settings');
    expect(settings.text).toContain('"idleTimeoutS"');
    expect(settings.json()).toMatchObject({ problems: [] });
    expect((await gateway.sendAsAdmin('GET', '/api/slots/own')).status).toBe(200);
  });

  it.each(CHANGES)('refuses %s with config.write_failed and the cause', async (_, method, path, body) => {
    const response = await gateway.sendAsAdmin(method, path, { body });
    expect(response).toMatchObject({ status: 500, code: 'config.write_failed' });
    const { error } = response.json<{ error: { message: string; details: object } }>();
    expect(error.message).toMatch(/ is on a read-only file system \(EROFS\)\. Nothing has changed\.$/);
    expect(error.details).toEqual({ reason: 'EROFS' });
    expect(response.text).not.toContain(gateway.home);
  });

  it('refuses a rotation; the old key stays valid', async () => {
    const response = await gateway.sendAsAdmin('POST', '/api/auth/rotate', { body: { tier: 'admin' } });
    expect(response).toMatchObject({ status: 500, code: 'auth.rotate_failed' });
    expect(response.text).toContain('read-only file system (EROFS)');
    expect((await send(gateway, 'GET', '/api/auth/status', { key: ADMIN_KEY })).json()).toMatchObject({
      tier: 'admin',
    });
  });
});

describe.runIf(canMount)('files that are mounts of their own', () => {
  const files = ['config/api.env', 'config/config.toml', SLOT];
  const gateway = new OneGateway(() =>
    startGateway({ files: FILES, mounts: files.map(bindMounted).join('\n') }),
  );

  it.each([
    ['api.env', 'POST', '/api/auth/rotate', { tier: 'client' }, 'auth.rotate_failed'],
    ['config.toml', 'PUT', '/api/settings', { values: { idleTimeoutS: 400 } }, 'config.write_failed'],
    ['own.toml', 'PUT', '/api/slots/own', { context: 4096 }, 'config.write_failed'],
  ])('%s: the error names the mount, and nothing changes', async (file, method, path, body, code) => {
    const before = files.map((name) => readFileSync(join(gateway.home, name), 'utf8'));
    const response = await gateway.sendAsAdmin(method, path, { body });
    expect(response).toMatchObject({ status: 500, code });
    expect(response.text).toContain(
      `${file} is a mount of its own and cannot be replaced (EBUSY); mount its folder`,
    );
    expect(files.map((name) => readFileSync(join(gateway.home, name), 'utf8'))).toEqual(before);
    expect(readdirSync(join(gateway.home, 'config')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

/** The layout of a ConfigMap: each file is a link through a link to a folder of the current version. */
function configMapHome(): string {
  const home = newHome();
  const config = join(home, 'config');
  mkdirSync(join(config, '..2026_01'), { recursive: true });
  writeFileSync(join(config, '..2026_01', 'config.toml'), FILES['config/config.toml']);
  writeFileSync(join(config, '..2026_01', 'api.env'), FILES['config/api.env'], { mode: 0o600 });
  symlinkSync('..2026_01', join(config, '..data'));
  for (const name of ['config.toml', 'api.env']) symlinkSync(join('..data', name), join(config, name));
  return home;
}

it.runIf(canMount)('starts with the files of a ConfigMap that is mounted read-only', async () => {
  const gateway = await start({ home: configMapHome(), files: {}, mounts: READ_ONLY });
  expect((await send(gateway, 'GET', '/api/auth/status', { key: ADMIN_KEY })).json()).toMatchObject({
    tier: 'admin',
  });
  const settings = await send(gateway, 'GET', '/api/settings', { key: ADMIN_KEY });
  expect(settings.text).toMatch(/"idleTimeoutS"[^}]*"value":500/);
});
