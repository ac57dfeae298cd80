/** `/api/upstreams` over a real port: access, written files and responses. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamRecord, UpstreamTestView } from '../contract/upstreams.ts';
import { Front } from './harness/front-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { provider } from './harness/stand-in.ts';

const front = new Front();
beforeAll(() => front.start());
afterAll(() => front.close());

describe('the routes', () => {
  it('an admin adds, changes, tests and removes one, with audit rows', async () => {
    const upstream = await front.startStandIn(provider('route-model'));
    const body = { name: 'routes', base_url: upstream.url, key_env: 'UPSTREAM_CLOUD' };
    expect((await front.send('POST', '/api/upstreams', { body })).json()).toMatchObject({
      name: 'routes',
      key_set: true,
    });
    expect(await front.send('POST', '/api/upstreams', { body })).toMatchObject({
      status: 409,
      code: 'upstream.exists',
    });
    const trial = (
      await front.send('POST', '/api/upstreams/routes/test', { body: { model: 'route-model' } })
    ).json<UpstreamTestView>();
    expect(trial).toMatchObject({
      ok: true,
      steps: [
        { step: 'models', ok: true, status: 200, message: '1 model' },
        { step: 'chat', ok: true, status: 200, message: 'It answered a chat.' },
        { step: 'stream', ok: true, status: 200, message: expect.stringContaining('complete response') },
      ],
      upstream: { health: 'ok', model_ids: ['route-model'] },
    });
    const moved = await front.send('PUT', '/api/upstreams/routes', {
      body: { base_url: 'http://127.0.0.1:9/v1' },
    });
    expect(moved.json()).toMatchObject({ key_env: null, base_url: 'http://127.0.0.1:9/v1', models: 0 });
    expect((await front.send('POST', '/api/upstreams/routes/test')).json()).toMatchObject({
      ok: false,
      steps: [
        {
          step: 'models',
          ok: false,
          status: null,
          message: 'It refused the connection: no server listens at this address.',
        },
      ],
    });
    expect((await front.send('DELETE', '/api/upstreams/routes')).json()).toEqual({ removed: 'routes' });
    expect(await front.send('GET', '/api/upstreams/routes')).toMatchObject({
      status: 404,
      code: 'upstream.not_found',
    });
    const { entries } = (await front.send('GET', '/api/audit')).json<{ entries: { action: string }[] }>();
    const actions = entries.map(({ action }) => action);
    for (const action of ['create', 'test', 'change', 'remove'])
      expect(actions).toContain(`upstream.${action}`);
  });

  it('the error for an invalid body names field and reason, never the value', async () => {
    for (const [body, path] of [
      [{ name: 'x', base_url: 'http://u:sk-secret@h' }, 'base_url'],
      [{ name: 'x', base_url: 'http://169.254.169.254/v1' }, 'base_url'],
      [{ name: 'x', base_url: 'http://h', key_env: 'sk-secret-value' }, 'key_env'],
      [{ name: 'x', base_url: 'http://h', key_env: 'SVC_ADMIN_KEY' }, 'key_env'],
      [{ name: '../x', base_url: 'http://h' }, 'name'],
      [{ name: 'x', base_url: 'http://h', header: 'Cookie' }, 'header'],
    ] as const) {
      const response = await front.send('POST', '/api/upstreams', { body });
      expect(response.status).toBe(422);
      expect(response.json()).toMatchObject({ error: { details: { fields: [{ path }] } } });
      expect(response.text).not.toContain('sk-secret');
    }
  });

  it('a control character is 422 for a new upstream and for a known one, and nothing is written', async () => {
    for (const control of ['\x7f', '\0', '\n', '\t'])
      for (const [field, value] of [
        ['base_url', `http://h/v1${control}`],
        ['base_url', `x${control}`],
        ['include', [`a${control}`]],
        ['models', [`a${control}`]],
        ['header', `x${control}`],
        ['key_env', `UPSTREAM_${control}`],
      ] as const) {
        const body = { base_url: 'http://127.0.0.1:9/v1', [field]: value };
        const name = { name: 'controls' };
        for (const response of [
          await front.send('POST', '/api/upstreams', { body: { ...name, ...body, daily_requests: 5 } }),
          await front.send('PUT', '/api/upstreams/controls', { body }),
        ])
          expect(response, `${field} ${JSON.stringify(value)}`).toMatchObject({
            status: 422,
            code: 'request.invalid',
          });
      }
    expect(existsSync(join(front.gateway.home, 'config/upstreams/controls.toml'))).toBe(false);
  });

  it('a broken file can be repaired or removed, and a name never leads outside the folder', async () => {
    const file = (name: string) => join(front.home, 'config', 'upstreams', `${name}.toml`);
    writeFileSync(file('hurt'), 'base_url = "http://127.0.0.1:9"\npriority = "high" # why\n');
    writeFileSync(file('torn'), 'base_url = ');
    const repaired = await front.send('PUT', '/api/upstreams/hurt', { body: { priority: 3 } });
    expect(repaired.json()).toMatchObject({ name: 'hurt', priority: 3 });
    expect(readFileSync(file('hurt'), 'utf8')).toBe('base_url = "http://127.0.0.1:9"\npriority = 3 # why\n');
    const torn = await front.send('PUT', '/api/upstreams/torn', { body: { priority: 3 } });
    expect(torn).toMatchObject({ status: 409, code: 'config.broken' });
    expect((await front.send('DELETE', '/api/upstreams/torn')).json()).toEqual({ removed: 'torn' });
    for (const name of ['..%2Fapi', '%2e%2e%2fslots%2fagent', 'Torn', 'torn'])
      expect((await front.send('DELETE', `/api/upstreams/${name}`)).status).toBe(404);
    expect(existsSync(join(front.home, 'config/api.env'))).toBe(true);
    expect(existsSync(join(front.home, 'config/slots/agent.toml'))).toBe(true);
  });

  it('a client sees name, health and number of models, and changes nothing', async () => {
    await front.add('listed', 'base_url = "http://127.0.0.1:9/v1"\nkey_env = "UPSTREAM_CLOUD"\n');
    const { upstreams } = (await send(front.gateway, 'GET', '/api/upstreams', { key: CLIENT_KEY })).json<{
      upstreams: UpstreamRecord[];
    }>();
    expect(Object.keys(upstreams[0] ?? {}).sort()).toEqual(
      ['enabled', 'health', 'kind', 'listed_at', 'models', 'name', 'priority', 'remote'].sort(),
    );
    expect(JSON.stringify(upstreams)).not.toMatch(/http|UPSTREAM_/);
    expect((await send(front.gateway, 'GET', '/api/upstreams/listed', { key: CLIENT_KEY })).code).toBe(
      'auth.forbidden',
    );
    const admins = (await front.send('GET', '/api/upstreams')).json<{ upstreams: UpstreamRecord[] }>()
      .upstreams;
    expect(admins.find(({ name }) => name === 'listed')).toMatchObject({
      base_url: 'http://127.0.0.1:9/v1',
      key_env: 'UPSTREAM_CLOUD',
    });
  });

  it('listing sends no request to an upstream', async () => {
    const quiet = await front.startStandIn(provider('quiet'));
    await front.add('quiet', `base_url = "${quiet.url}"\n`);
    const before = quiet.requests.length;
    for (const path of [
      '/v1/models',
      '/api/upstreams',
      '/api/upstreams/quiet',
      '/api/metrics/prometheus',
      '/api/status',
    ])
      expect((await front.send('GET', path)).status).toBe(200);
    expect(quiet.requests).toHaveLength(before);
  });
});
