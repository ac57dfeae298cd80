/** `/api/settings` over a real port: effects of a change, rejected changes, and the audit trail. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditRow, SettingRow } from '../contract/system.ts';
import { ADMIN_KEY, type Gateway, KEYS_FILE, QUIET_FILE, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(startGuarded);
const { sendAsAdmin } = gateway;
describe('settings', () => {
  const rows = async (on: Gateway = gateway) =>
    (await send(on, 'GET', '/api/settings', { key: ADMIN_KEY })).json<{ settings: SettingRow[] }>().settings;
  const row = async (name: string, on?: Gateway) => (await rows(on)).find((each) => each.name === name);
  const put = (values: Record<string, unknown>, more: object = {}) =>
    sendAsAdmin('PUT', '/api/settings', { body: { values, ...more } });

  it('a live one is in effect at once, and only it changes in the file', async () => {
    const file = join(gateway.home, 'config/config.toml');
    const before = readFileSync(file, 'utf8');
    expect((await put({ queueMax: 50 })).status).toBe(200);
    expect(await row('queueMax')).toMatchObject({ value: 50, source: 'file', live: true });
    expect(await row('queueMax')).not.toHaveProperty('running');
    expect(readFileSync(file, 'utf8')).toBe(`${before}\n[slots]\nqueue_max = 50\n`);
  });

  it('one that needs a restart shows the running value until then', async () => {
    expect((await put({ maxConnections: 900 })).status).toBe(200);
    expect(await row('maxConnections')).toMatchObject({ value: 900, running: 1024, live: false });
    await put({ maxConnections: 1024 });
    expect(await row('maxConnections')).not.toHaveProperty('running');
  });

  it.each<[string, Record<string, unknown>, object, string]>([
    ['a wrong value', { queueMax: 0 }, {}, 'queueMax'],
    ['an invalid host name', { allowedHosts: ['gw.mydomain.org', 'a b'] }, {}, 'allowedHosts'],
    ['a secret', { adminKey: 'x' }, {}, 'adminKey'],
    ['enforcement', { requireAuth: false }, {}, 'requireAuth'],
    ['an unknown name', { nonsense: 1 }, {}, 'nonsense'],
    ['a property name of Object', { constructor: 1 }, {}, 'constructor'],
    ['an unknown key of the body', {}, { persist: true }, 'persist'],
  ])('%s is rejected by name, and nothing is written', async (_, values, more, path) => {
    const file = join(gateway.home, 'config/config.toml');
    const before = readFileSync(file, 'utf8');
    const response = await put({ idleTimeoutS: 500, ...values }, more);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.json()).toMatchObject({ error: { details: { fields: [{ path }] } } });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.each<[string, unknown]>([
    ['allowedOrigins', ['', 'geheim geheim']],
    ['allowedHosts', ['geheim geheim']],
    ['trustedProxies', ['geheim']],
    ['port', 'geheim'],
    ['memoryClass', 'geheim'],
    ['hubUrl', 'geheim'],
  ])('a value sent as %s is not echoed', async (name, value) => {
    const response = await put({ [name]: value });
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.text).toContain(name);
    expect(response.text).not.toContain('geheim');
  });

  it('an address that receives a secret cannot be changed to another host', async () => {
    const secrets = { HF_TOKEN: 'hf_geheim' };
    const ownGateway = await forTest(startGateway({ files: { ...KEYS_FILE, ...QUIET_FILE }, env: secrets }));
    const putHubUrl = (hubUrl: string) =>
      send(ownGateway, 'PUT', '/api/settings', { body: { values: { hubUrl } }, key: ADMIN_KEY });
    const refused = await putHubUrl('http://127.0.0.1:9');
    expect(refused).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(refused.json()).toMatchObject({
      error: { details: { fields: [{ path: 'hubUrl', reason: expect.stringContaining('HF_ENDPOINT') }] } },
    });
    expect(await row('hubUrl', ownGateway)).toMatchObject({
      value: 'https://huggingface.co',
      source: 'default',
    });
    expect((await putHubUrl('https://huggingface.co/mirror')).status).toBe(200);
  });

  it('a change is in the audit trail with its names, its tier and its address', async () => {
    await put({ queueMax: 51, idleTimeoutS: 500 });
    const { entries } = (await sendAsAdmin('GET', '/api/audit?limit=1')).json<{ entries: AuditRow[] }>();
    expect(entries).toMatchObject([
      {
        action: 'settings.put',
        tier: 'admin',
        address: '127.0.0.1',
        details: { names: ['queueMax', 'idleTimeoutS'] },
      },
    ]);
    const older = await sendAsAdmin('GET', `/api/audit?before=${entries[0]?.id}&limit=1`);
    expect(older.json<{ entries: AuditRow[] }>().entries[0]?.id).toBeLessThan(entries[0]?.id as number);
  });

  it('the guards use the current listen address, not the configured one', async () => {
    const open = await forTest(
      startGateway({
        files: {
          ...KEYS_FILE,
          ...QUIET_FILE,
          'config/config.toml':
            '[server]\nbind_host = "0.0.0.0"\n\n[security]\nallow_public_without_auth = true\n',
        },
      }),
    );
    const proxied = { headers: { via: '1.1 proxy' } };
    expect(await send(open, 'GET', '/api/audit', proxied)).toMatchObject({ status: 401 });
    const body = { values: { bindHost: '127.0.0.1' } };
    expect((await send(open, 'PUT', '/api/settings', { body, key: ADMIN_KEY })).status).toBe(200);
    expect(await row('bindHost', open)).toMatchObject({ value: '127.0.0.1', running: '0.0.0.0' });
    expect(await send(open, 'GET', '/api/audit', proxied)).toMatchObject({ status: 401 });
    const status = await send(open, 'GET', '/api/status');
    expect(status.json()).toMatchObject({ listener: { bind_host: '0.0.0.0', loopback: false } });
  });
});
