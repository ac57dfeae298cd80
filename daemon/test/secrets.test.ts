/** docs/spec/contract.md#write-only-secrets over a real port. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import { parseEnvFile } from '../settings/env-file.ts';
import { fingerprint, start } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, KEYS_FILE, startLocked, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { provider, standIn } from './harness/stand-in.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const SECRET = 'geheim-0123456789-abcdef';
const gateway = new OneGateway(() => startLocked());
const put = (name: string, value: unknown, on: Gateway = gateway) =>
  send(on, 'PUT', `/api/settings/secrets/${name}`, { key: ADMIN_KEY, body: { value } });
const envFile = (on: Pick<Gateway, 'home'> = gateway) => join(on.home, 'config/api.env');
const valueIn = (name: string) => parseEnvFile(readFileSync(envFile())).get(name);

describe('a secret is written', () => {
  it.each([
    ['UPSTREAM_DESK', 'plain-value'],
    ['UPSTREAM_DESK_KEY_2', 'sk-proj-abc_DEF.123'],
    ['HF_TOKEN', 'hf_abcdefghijklmnop'],
    ['UPSTREAM_DESK', 'with "quotes" and $dollar `ticks` \\ # hash ; and = signs'],
    ['UPSTREAM_DESK', "'single'"],
    ['UPSTREAM_LONG', 'x'.repeat(4096)],
  ])('%s, and only its fingerprint is returned', async (name, value) => {
    const response = await put(name, value);
    expect(response.json()).toEqual({ name, set: true, fingerprint: fingerprint(value) });
    expect(valueIn(name)).toBe(value);
    expect(valueIn('SVC_ADMIN_KEY')).toBe(ADMIN_KEY);
    const audit = (await gateway.sendAsAdmin('GET', '/api/audit')).json<{ entries: object[] }>();
    expect(audit.entries[0]).toMatchObject({
      action: 'settings.secret',
      tier: 'admin',
      details: { name, fingerprint: fingerprint(value) },
    });
  });

  it('without blanks and line ends around it', async () => {
    expect((await put('UPSTREAM_DESK', `  ${SECRET}\r\n`)).json()).toMatchObject({
      fingerprint: fingerprint(SECRET),
    });
    expect(valueIn('UPSTREAM_DESK')).toBe(SECRET);
  });

  it('one line per variable, all other bytes stay, and no temporary file is left', async () => {
    await put('UPSTREAM_ONE', 'first-value');
    const before = readFileSync(envFile(), 'utf8');
    await put('UPSTREAM_ONE', SECRET);
    expect(readFileSync(envFile(), 'utf8')).toBe(
      before.replace(/^UPSTREAM_ONE=.*$/m, `UPSTREAM_ONE=${SECRET}`),
    );
    expect(statSync(envFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(gateway.home, 'config')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('by concurrent requests, each completely', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `UPSTREAM_N${index}`);
    await Promise.all(names.map((name) => put(name, `value-of-${name}`)));
    expect(names.map((name) => valueIn(name))).toEqual(names.map((name) => `value-of-${name}`));
  });
});

describe('a secret is refused', () => {
  it.each([
    'SVC_ADMIN_KEY',
    'SVC_CLIENT_KEY',
    'SVC_REQUIRE_AUTH',
    'SVC_BIND_HOST',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PATH',
    'NODE_OPTIONS',
    'UPSTREAM_',
    'UPSTREAM_desk',
    'upstream_desk',
    'XUPSTREAM_DESK',
    `UPSTREAM_${'X'.repeat(65)}`,
    'UPSTREAM_A%3DB',
    'UPSTREAM_A%0AB',
    'HF_TOKEN%20',
    '..%2fconfig.toml',
    '__proto__',
  ])('for the variable %s', async (name) => {
    const before = readFileSync(envFile(), 'utf8');
    const response = await put(name, SECRET);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.json()).toMatchObject({ error: { details: { fields: [{ path: 'name' }] } } });
    expect(response.text).not.toContain(SECRET);
    expect(readFileSync(envFile(), 'utf8')).toBe(before);
  });

  it.each<[string, unknown]>([
    ['empty', ''],
    ['blank', ' \t '],
    ['over two lines', `${SECRET}\nSVC_ADMIN_KEY=mine`],
    ['with a control character', `${SECRET}\u0001`],
    ['with a NUL', `${SECRET}\0`],
    ['not ASCII', `${SECRET}é`],
    ['too long', 'x'.repeat(4097)],
    ['null', null],
    ['a number', 7],
    ['a list', [SECRET]],
  ])('with a value that is %s', async (_, value) => {
    const before = readFileSync(envFile(), 'utf8');
    const response = await put('UPSTREAM_DESK', value);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.text).not.toContain(SECRET);
    expect(readFileSync(envFile(), 'utf8')).toBe(before);
  });

  it.each([
    ['without a key', undefined, 401],
    ['with the client key', CLIENT_KEY, 403],
  ])('%s', async (_, key, status) => {
    const body = { value: SECRET };
    const response = await send(gateway, 'PUT', '/api/settings/secrets/HF_TOKEN', { key, body });
    expect(response.status).toBe(status);
  });

  it.each(['GET', 'HEAD', 'POST', 'DELETE'])('for the method %s: a secret cannot be read', async (method) => {
    await put('UPSTREAM_DESK', SECRET);
    const response = await gateway.sendAsAdmin(method, '/api/settings/secrets/UPSTREAM_DESK');
    expect(response.status).toBe(405);
    expect(response.text).not.toContain(SECRET);
  });
});

describe('svcctl auth set', () => {
  const env = () => envFor(gateway);

  it('reads the value from a pipe and prints its fingerprint', async () => {
    const ran = await svcctl(['auth', 'set', 'UPSTREAM_PIPED'], { env: env(), input: `${SECRET}\n` });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain(`Fingerprint  ${fingerprint(SECRET)}`);
    expect(`${ran.out}${ran.err}`).not.toContain(SECRET);
    expect(valueIn('UPSTREAM_PIPED')).toBe(SECRET);
  });

  it('asks at a terminal, which does not show what is typed', async () => {
    const ran = await svcctl(['auth', 'set', 'HF_TOKEN'], { env: env(), terminal: true, input: SECRET });
    expect(ran.code, ran.out).toBe(0);
    expect(ran.out).toContain('Value of HF_TOKEN: ');
    expect(ran.out).not.toContain(SECRET);
    expect(valueIn('HF_TOKEN')).toBe(SECRET);
  });

  it.each([
    ['no value', ['auth', 'set', 'UPSTREAM_NONE'], '\n', /no value was entered; nothing was changed/, 2],
    [
      'another variable',
      ['auth', 'set', 'SVC_ADMIN_KEY'],
      SECRET,
      /must be HF_TOKEN.*\(request\.invalid\)/,
      1,
    ],
    ['the value as an argument', ['auth', 'set', 'UPSTREAM_X', SECRET], '', /too many arguments/, 2],
  ])('refuses %s', async (_, args, input, message, code) => {
    const ran = await svcctl(args, { env: env(), input });
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err).not.toContain(SECRET);
  });
});

it.each([
  '/api/settings',
  '/api/audit',
  '/api/status',
  '/api/requests',
  '/api/config/urls',
  '/api/health/system',
  '/api/upstreams',
  '/api/openapi.json',
  '/api/metrics/prometheus',
])('a secret cannot be read from %s', async (path) => {
  await put('UPSTREAM_DESK', SECRET);
  const { text, status } = await gateway.sendAsAdmin('GET', path);
  expect(status).toBe(200);
  expect(text).not.toContain(SECRET);
});

it('applies at once, and appears in no response, log line or audit row', async () => {
  const authorizations: (string | undefined)[] = [];
  const models = provider('qwen');
  const desk = await standIn((request) => {
    authorizations.push(request.headers.authorization);
    return models(request);
  });
  const own = await start({ files: KEYS_FILE });
  await send(own, 'POST', '/api/upstreams', {
    key: ADMIN_KEY,
    body: { name: 'desk', base_url: `${desk.url}/v1`, key_env: 'UPSTREAM_DESK' },
  });
  const record = async () =>
    (await send(own, 'GET', '/api/upstreams/desk', { key: ADMIN_KEY })).json<UpstreamRecord>();
  expect(await record()).toMatchObject({ key_set: false, health: 'auth_failed' });
  await put('UPSTREAM_DESK', SECRET, own);
  await until(async () => (await record()).health === 'ok', 'the upstream to accept the key');
  expect(await record()).toMatchObject({ key_set: true });
  expect(authorizations).toContain(`Bearer ${SECRET}`);
  for (const path of ['/api/settings', '/api/audit', '/api/upstreams/desk', '/api/status', '/api/requests'])
    expect((await send(own, 'GET', path, { key: ADMIN_KEY })).text).not.toContain(SECRET);
  expect(own.output()).not.toContain(SECRET);
  await desk.stop();
});
