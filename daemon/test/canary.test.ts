/** X01, X03, X05, X06: sends secrets everywhere. After a run at log level debug none of them appears in any output. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from './harness/canaries.ts';
import { chat, plant, plantInBodies, ResponseRecorder } from './harness/canary-traffic.ts';
import { descendants } from './harness/descendants.ts';
import { until } from './harness/gateway.ts';
import { login, type SendOptions, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import { openStream } from './harness/stream.ts';
import { startTiny } from './harness/tiny-gateway.ts';

const ADMIN = 'canary+admin/key=Zq81xV7mPw3LtB';
const CLIENT = 'canary-client-key-Rf5nQc2JhY8sKd';
const SECRETS = {
  SVC_ADMIN_KEY: ADMIN,
  SVC_CLIENT_KEY: CLIENT,
  HF_TOKEN: 'hf_canaryInheritedHubTokenAb12Cd',
  UPSTREAM_CLOUD_KEY: 'sk-canary-upstream-Gt7uVw9xYz31',
  /** It starts with another key. */
  UPSTREAM_LONGER_KEY: 'sk-canary-upstream-Gt7uVw9xYz31-Longer-Hs4dPq',
};
/** The rest of the longer key after redaction of the shorter one. */
const REMAINDER = '-Longer-Hs4dPq';

const canaries = new Canaries();

let recorder: ResponseRecorder;
const events: { text: string; stop(): void }[] = [];

const record = (method: string, path: string, options: SendOptions = {}) =>
  recorder.send(method, path, options);

/** Follows `/api/events` as an administrator until `stop`. */
function follow(key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const req = request({
      host: '127.0.0.1',
      port: gateway.port,
      path: '/api/events',
      headers,
      agent: false,
    });
    req.on('error', reject);
    req.on('response', (res) => {
      const stream = { text: '', stop: () => void res.destroy() };
      events.push(stream);
      res.on('data', (chunk: Buffer) => {
        stream.text += chunk.toString('latin1');
      });
      res.on('error', () => {});
      resolve();
    });
    req.end();
  });
}

const gateway = new OneGateway(() =>
  startTiny(
    {
      env: { SVC_REQUIRE_AUTH: 'on', HF_TOKEN: SECRETS.HF_TOKEN, SVC_CLIENT_KEY: CLIENT },
      files: {
        'config/api.env': `SVC_ADMIN_KEY=${ADMIN}\nUPSTREAM_CLOUD_KEY="${SECRETS.UPSTREAM_CLOUD_KEY}"\nUPSTREAM_LONGER_KEY=${SECRETS.UPSTREAM_LONGER_KEY}\n`,
        'config/config.toml': '[security]\nlogin_ratelimit_max = 10000\n',
        'config/slots/utility.toml': 'model = "tiny"\n',
        'config/slots/hollow.toml': `model = "/nowhere/${CLIENT}.gguf"\n`,
      },
    },
    ADMIN,
  ),
);
beforeAll(async () => {
  recorder = new ResponseRecorder(gateway);
  for (const [name, value] of Object.entries(SECRETS)) canaries.add(name, value);
  canaries.add('the beginning of SVC_CLIENT_KEY', CLIENT.slice(0, 18));
  canaries.add('the rest of UPSTREAM_LONGER_KEY', REMAINDER);
  canaries.add('secret.bin', readFileSync(join(gateway.home, 'state/secret.bin')));
  const cookie = await login(gateway, ADMIN);
  const value = cookie.split('=')[1] ?? '';
  canaries.add('cookie', value);
  canaries.add('cookie signature', value.split('.')[1] ?? '');
  await follow(ADMIN);
  await runAll(cookie);
  for (const stream of events) stream.stop();
});

async function runAll(cookie: string): Promise<void> {
  for (const secret of [...Object.values(SECRETS), cookie.split('=')[1] ?? '']) {
    await plant(recorder, secret, [ADMIN, CLIENT]);
  }
  for (const path of [
    '/api/health',
    '/api/health/system',
    '/api/metrics/prometheus',
    '/api/config/urls',
    '/api/status',
    '/api/auth/status',
    '/api/auth/exposure',
    '/api/auth/sessions',
    '/api/slots',
    '/api/models',
    '/api/hardware',
    '/api/openapi.json',
    '/api/settings',
    '/api/audit',
    '/api/requests',
    '/api/usage',
    '/api/logs?follow=false&lines=1000',
    '/api/slots/agent/plan',
    '/api/slots/agent/logs?follow=false&lines=1000',
    '/api/setup',
    '/v1/models?show_all=1',
    '/',
    '/security',
  ]) {
    expect(await record('GET', path, { cookie }), path).toBe(200);
  }
  expect(await record('POST', '/api/auth/login', { body: { key: ADMIN } })).toBe(200);
  await killEngine();
  expect(await record('POST', '/api/auth/rotate', { cookie, body: { tier: 'client' } })).toBe(200);
  expect(await record('POST', '/api/auth/rotate', { cookie, body: { tier: 'admin' } })).toBe(200);
  const rotated = recorder.exchanges
    .slice(-2)
    .map(({ response }) => response)
    .join();
  const written = readFileSync(join(gateway.home, 'config/api.env'), 'utf8');
  for (const name of ['SVC_ADMIN_KEY', 'SVC_CLIENT_KEY']) {
    const key = new RegExp(`^${name}=(.*)$`, 'm').exec(written)?.[1] ?? '';
    expect(key).toHaveLength(43);
    canaries.add(`new ${name}`, key);
    for (let at = 0; at + 6 <= key.length; at++) expect(rotated).not.toContain(key.slice(at, at + 6));
    await plantInBodies(recorder, key, key);
    await record('GET', '/api/audit', { key });
    await record('GET', `/api/settings?api_key=${key}`);
  }
  expect(await record('GET', '/api/settings', { key: ADMIN })).toBe(401);
  await record('GET', '/api/audit', { cookie });
  await record('GET', '/api/metrics/prometheus');
}

/** Kills an engine during a response, then starts another one while the keys are in use. */
async function killEngine(): Promise<void> {
  const { pid } = await waitForSlotState(gateway, 'agent', 'ready', ADMIN);
  const body = chat('a', { max_tokens: 30_000, stream: true, user: CLIENT });
  const streamed = await openStream(gateway, '/v1/chat/completions', body, { key: CLIENT });
  process.kill(pid as number, 'SIGKILL');
  await streamed.ended;
  recorder.record('stream', streamed.text());
  await waitForSlotState(gateway, 'agent', 'error', ADMIN);
  await record('GET', '/api/slots', { key: ADMIN });
  expect(await record('POST', '/api/slots/utility/load', { key: ADMIN })).toBe(200);
  await waitForSlotState(gateway, 'agent', 'ready', ADMIN);
}

/** Returns every file below a folder except those that contain secrets by design. */
function files(folder: string, except: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !except.test(path));
}

describe('X01 no secret', () => {
  it('in what callers received: bodies, headers, streams, sockets', () => {
    expect(recorder.exchanges.length).toBeGreaterThan(500);
    const hits = recorder.exchanges.flatMap(({ request, response }) =>
      canaries.hits(`the response to ${request}`, response),
    );
    expect([...new Set(hits)]).toEqual([]);
  });

  it('in live events', async () => {
    await until(() => events.some(({ text }) => text.includes('rotate')), 'the event of the rotation', 2_000);
    expect(events.flatMap(({ text }) => canaries.hits('the events', text))).toEqual([]);
  });

  it('in the log at debug level', () => {
    expect(gateway.output()).toContain('"level":"debug"');
    const lines = gateway.output().split('\n');
    expect(lines.flatMap((line) => canaries.hits(line.slice(0, 200), line))).toEqual([]);
  });

  it('in argv or environment of any process that the gateway started', () => {
    const processes = descendants(gateway.pid);
    expect(processes.length).toBeGreaterThanOrEqual(2);
    for (const { pid, argv, environ } of processes) {
      expect(canaries.hits(`argv of ${pid}`, argv)).toEqual([]);
      expect(canaries.hits(`environment of ${pid}`, environ)).toEqual([]);
      expect(environ).not.toMatch(/SVC_|_KEY=|TOKEN=/);
    }
  });

  it('in the database, the engine logs, or any other file of the state folder', () => {
    const paths = files(join(gateway.home, 'state'), /secret\.bin$/);
    expect(paths.map((path) => path.split('/').at(-1))).toEqual(
      expect.arrayContaining(['svc.db', 'agent.log']),
    );
    expect(paths.flatMap((path) => canaries.hits(path, readFileSync(path)))).toEqual([]);
  });

  it('in any file of the configuration folder except api.env', () => {
    const paths = files(join(gateway.home, 'config'), /api\.env$|hollow\.toml$/);
    expect(paths.flatMap((path) => canaries.hits(path, readFileSync(path)))).toEqual([]);
  });
});

describe('X05 X06 open routes', () => {
  it('X05 metrics: route templates and a bounded set of models; no address, no free text', async () => {
    const { text } = await send(gateway, 'GET', '/api/metrics/prometheus');
    expect(text).toMatch(/svc_\w+/);
    expect(text).not.toMatch(/canary|127\.0\.0\.1|"tinyx"|\/tmp\//);
    const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map((match) => match[1]));
    for (const route of routes) expect(route).toMatch(/^\/(v1|api)\/[\w/:*-]*$|^other$/);
  });

  it('X06 health, urls and status contain no path, argument, address or user name', async () => {
    for (const path of ['/api/health', '/api/health/system', '/api/config/urls', '/api/auth/status']) {
      const { text } = await send(gateway, 'GET', path, { headers: { host: 'localhost' } });
      expect(text, path).not.toContain(gateway.home);
      expect(text, path).not.toMatch(/\/(tmp|home|root|usr|var)\/|\.gguf|canary|--\w+=/);
    }
  });

  it('X06 anonymous requests start no process', async () => {
    const before = descendants(gateway.pid).map(({ pid }) => pid);
    for (let round = 0; round < 20; round++) {
      await send(gateway, 'GET', '/api/health/system');
      await send(gateway, 'GET', '/v1/models');
      await send(gateway, 'GET', '/api/metrics/prometheus');
    }
    expect(descendants(gateway.pid).map(({ pid }) => pid)).toEqual(before);
  });
});
