/**
 * docs/spec/specification.md#enforcement over a real port: the source of its value; a broken file never
 * turns it off.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { locked, start, status } from './harness/auth-gateways.ts';
import { ADMIN_KEY, KEYS_FILE, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { scale } from './harness/scale.ts';

describe('enforcement: environment, then file, then off', () => {
  it('PUT require under an environment override keeps the effective value and reports its source', async () => {
    const gateway = await locked();
    const response = await send(gateway, 'PUT', '/api/auth/require', {
      key: ADMIN_KEY,
      body: { require_auth: false },
    });
    expect(response.json()).toEqual({
      require_auth: true,
      persisted: false,
      source: 'env',
      applies_live: true,
    });
    expect(await status(gateway)).toMatchObject({ auth_required: true });
  });

  // All words: settings/precedence.test.ts.
  it.each([
    [' yes ', true],
    ['False', false],
    ['', false],
    ['maybe', true],
  ])('SVC_REQUIRE_AUTH=%j is %s', async (word, expected) => {
    const gateway = await start({ files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: word } });
    expect(await status(gateway)).toMatchObject({ auth_required: expected });
  });

  it.each<[string, Parameters<typeof start>[0], boolean, RegExp]>([
    [
      'an invalid value in config.toml',
      { files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = "perhaps"\n' } },
      true,
      /^1 problem.* Keys are required because require_auth in config\.toml cannot be read: set it to true or false/,
    ],
    [
      'an invalid value in the environment',
      { files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: 'perhaps' } },
      true,
      /^1 problem.* Keys are required because SVC_REQUIRE_AUTH cannot be read: set it to on or off\.$/,
    ],
    [
      'the environment over an invalid value',
      {
        files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = "perhaps"\n' },
        env: { SVC_REQUIRE_AUTH: 'on' },
      },
      true,
      /^1 problem in the configuration\. Unreadable settings keep their last good value, or use the default/,
    ],
    [
      'another invalid value',
      { files: { ...KEYS_FILE, 'config/config.toml': '[server]\ndrain_limit_s = "long"\n' } },
      false,
      /^1 problem in the configuration\. Unreadable settings keep their last good value, or use the default/,
    ],
  ])('the health check reports the effect of %s', async (_, options, required, message) => {
    const gateway = await start(options);
    expect(await status(gateway)).toMatchObject({ auth_required: required });
    const { checks } = (await send(gateway, 'GET', '/api/health/system', { key: ADMIN_KEY })).json<{
      checks: { configuration: object };
    }>();
    expect(checks.configuration).toEqual({ status: 'warning', message: expect.stringMatching(message) });
  });

  it('on without an admin key fails closed: only open and bootstrap routes are served, and the output names the key', async () => {
    const gateway = await start({ env: { SVC_REQUIRE_AUTH: 'on' } });
    expect(gateway.output()).toContain('SVC_ADMIN_KEY');
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    expect((await send(gateway, 'GET', '/api/setup')).status).toBe(200);
    expect((await send(gateway, 'POST', '/v1/chat/completions', { body: {} })).status).toBe(401);
    expect((await send(gateway, 'POST', '/api/auth/rotate')).status).toBe(401);
  });

  it('F05 a require body of another shape changes nothing', async () => {
    const gateway = await start({ files: KEYS_FILE });
    for (const value of ['true', 1, null, [], {}]) {
      const response = await send(gateway, 'PUT', '/api/auth/require', { body: { require_auth: value } });
      expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    }
    expect(await status(gateway)).toMatchObject({ auth_required: false });
  });

  it('F06 toggled under load: an acknowledged change applies to the next request, and no response mixes both states', async () => {
    const gateway = await start({ files: KEYS_FILE });
    const state = { stopped: false, invalid: [] as string[], requests: 0 };
    const caller = async () => {
      while (!state.stopped) {
        const response = await send(gateway, 'GET', '/api/settings');
        state.requests += 1;
        const isConsistent =
          response.status === 200 ? 'settings' in response.json() : response.code === 'auth.required';
        if (!isConsistent) state.invalid.push(`${response.status} ${response.text.slice(0, 100)}`);
      }
    };
    const callers = Array.from({ length: 4 }, caller);
    for (let turn = 0; turn < scale(1000); turn++) {
      for (const on of [true, false]) {
        const body = { require_auth: on };
        expect((await send(gateway, 'PUT', '/api/auth/require', { key: ADMIN_KEY, body })).status).toBe(200);
        expect((await send(gateway, 'GET', '/api/settings')).status).toBe(on ? 401 : 200);
        expect((await send(gateway, 'GET', '/api/settings', { key: ADMIN_KEY })).status).toBe(200);
      }
    }
    state.stopped = true;
    await Promise.all(callers);
    expect(state.invalid).toEqual([]);
    expect(state.requests).toBeGreaterThan(10);
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
