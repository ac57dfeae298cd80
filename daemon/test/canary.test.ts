/** X01, X03, X05, X06: secrets planted everywhere; after a whole run at log level debug none of them is anywhere. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from './harness/canaries.ts';
import { chat, Listener, plant, plantInBodies } from './harness/canary-traffic.ts';
import { descendants } from './harness/descendants.ts';
import { until } from './harness/gateway.ts';
import { type Ask, ask, login } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slotState } from './harness/slots.ts';
import { openStream } from './harness/stream.ts';
import { startTiny } from './harness/tiny-gateway.ts';

const ADMIN = 'canary+admin/key=Zq81xV7mPw3LtB';
const CLIENT = 'canary-client-key-Rf5nQc2JhY8sKd';
const PLANTED = {
  SVC_ADMIN_KEY: ADMIN,
  SVC_CLIENT_KEY: CLIENT,
  HF_TOKEN: 'hf_canaryInheritedHubTokenAb12Cd',
  UPSTREAM_CLOUD_KEY: 'sk-canary-upstream-Gt7uVw9xYz31',
  /** It begins with another key that stands before it. */
  UPSTREAM_LONGER_KEY: 'sk-canary-upstream-Gt7uVw9xYz31-Longer-Hs4dPq',
};
/** What would be left of the longer key once the shorter one is hidden. */
const LEFT_OVER = '-Longer-Hs4dPq';

const canaries = new Canaries();

let listener: Listener;
const events: { text: string; stop(): void }[] = [];

const say = (method: string, path: string, options: Ask = {}) => listener.say(method, path, options);

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
      const heard = { text: '', stop: () => void res.destroy() };
      events.push(heard);
      res.on('data', (chunk: Buffer) => {
        heard.text += chunk.toString('latin1');
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
      env: { SVC_REQUIRE_AUTH: 'on', HF_TOKEN: PLANTED.HF_TOKEN, SVC_CLIENT_KEY: CLIENT },
      files: {
        'config/api.env': `SVC_ADMIN_KEY=${ADMIN}\nUPSTREAM_CLOUD_KEY="${PLANTED.UPSTREAM_CLOUD_KEY}"\nUPSTREAM_LONGER_KEY=${PLANTED.UPSTREAM_LONGER_KEY}\n`,
        'config/config.toml': '[security]\nlogin_ratelimit_max = 10000\n',
        'config/slots/utility.toml': 'model = "tiny"\n',
        'config/slots/hollow.toml': `model = "/nowhere/${CLIENT}.gguf"\n`,
      },
    },
    ADMIN,
  ),
);
beforeAll(async () => {
  listener = new Listener(gateway);
  for (const [name, value] of Object.entries(PLANTED)) canaries.add(name, value);
  canaries.add('the beginning of SVC_CLIENT_KEY', CLIENT.slice(0, 18));
  canaries.add('the rest of UPSTREAM_LONGER_KEY', LEFT_OVER);
  canaries.add('secret.bin', readFileSync(join(gateway.home, 'state/secret.bin')));
  const cookie = await login(gateway, ADMIN);
  const value = cookie.split('=')[1] ?? '';
  canaries.add('cookie', value);
  canaries.add('cookie signature', value.split('.')[1] ?? '');
  await follow(ADMIN);
  await run(cookie);
  for (const heard of events) heard.stop();
});

async function run(cookie: string): Promise<void> {
  for (const secret of [...Object.values(PLANTED), cookie.split('=')[1] ?? '']) {
    await plant(listener, secret, [ADMIN, CLIENT]);
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
    expect(await say('GET', path, { cookie }), path).toBe(200);
  }
  expect(await say('POST', '/api/auth/login', { body: { key: ADMIN } })).toBe(200);
  await killAnEngine();
  expect(await say('POST', '/api/auth/rotate', { cookie, body: { tier: 'client' } })).toBe(200);
  expect(await say('POST', '/api/auth/rotate', { cookie, body: { tier: 'admin' } })).toBe(200);
  const rotated = listener.told
    .slice(-2)
    .map(({ answer }) => answer)
    .join();
  const written = readFileSync(join(gateway.home, 'config/api.env'), 'utf8');
  for (const name of ['SVC_ADMIN_KEY', 'SVC_CLIENT_KEY']) {
    const key = new RegExp(`^${name}=(.*)$`, 'm').exec(written)?.[1] ?? '';
    expect(key).toHaveLength(43);
    canaries.add(`new ${name}`, key);
    for (let at = 0; at + 6 <= key.length; at++) expect(rotated).not.toContain(key.slice(at, at + 6));
    await plantInBodies(listener, key, key);
    await say('GET', '/api/audit', { key });
    await say('GET', `/api/settings?api_key=${key}`);
  }
  expect(await say('GET', '/api/settings', { key: ADMIN })).toBe(401);
  await say('GET', '/api/audit', { cookie });
  await say('GET', '/api/metrics/prometheus');
}

/** A crash in the middle of an answer, then a start of another engine after the keys are known. */
async function killAnEngine(): Promise<void> {
  const { pid } = await slotState(gateway, 'agent', 'ready', ADMIN);
  const body = chat('a', { max_tokens: 30_000, stream: true, user: CLIENT });
  const streamed = await openStream(gateway, '/v1/chat/completions', body, { key: CLIENT });
  process.kill(pid as number, 'SIGKILL');
  await streamed.ended;
  listener.keep('stream', streamed.text());
  await slotState(gateway, 'agent', 'error', ADMIN);
  await say('GET', '/api/slots', { key: ADMIN });
  expect(await say('POST', '/api/slots/utility/load', { key: ADMIN })).toBe(200);
  await slotState(gateway, 'agent', 'ready', ADMIN);
}

/** Every file below a folder but those that hold secrets by design. */
function files(folder: string, except: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !except.test(path));
}

describe('X01 no secret', () => {
  it('in what callers were told: bodies, headers, streams, sockets', () => {
    expect(listener.told.length).toBeGreaterThan(500);
    const hits = listener.told.flatMap(({ asked, answer }) =>
      canaries.hits(`the answer to ${asked}`, answer),
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

  it('in the database, the logs of the engines, or any other file of the state folder', () => {
    const paths = files(join(gateway.home, 'state'), /secret\.bin$/);
    expect(paths.map((path) => path.split('/').at(-1))).toEqual(
      expect.arrayContaining(['svc.db', 'agent.log']),
    );
    expect(paths.flatMap((path) => canaries.hits(path, readFileSync(path)))).toEqual([]);
  });

  it('in any file of the configuration folder but api.env', () => {
    const paths = files(join(gateway.home, 'config'), /api\.env$|hollow\.toml$/);
    expect(paths.flatMap((path) => canaries.hits(path, readFileSync(path)))).toEqual([]);
  });
});

describe('X05 X06 what everyone may read', () => {
  it('X05 metrics: route templates and a bounded set of models; no address, no free text', async () => {
    const { text } = await ask(gateway, 'GET', '/api/metrics/prometheus');
    expect(text).toMatch(/svc_\w+/);
    expect(text).not.toMatch(/canary|127\.0\.0\.1|"tinyx"|\/tmp\//);
    const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map((match) => match[1]));
    for (const route of routes) expect(route).toMatch(/^\/(v1|api)\/[\w/:*-]*$|^other$/);
  });

  it('X06 health, urls and status hold no path, argument, address or user name', async () => {
    for (const path of ['/api/health', '/api/health/system', '/api/config/urls', '/api/auth/status']) {
      const { text } = await ask(gateway, 'GET', path, { headers: { host: 'localhost' } });
      expect(text, path).not.toContain(gateway.home);
      expect(text, path).not.toMatch(/\/(tmp|home|root|usr|var)\/|\.gguf|canary|--\w+=/);
    }
  });

  it('X06 asking as anyone starts no process and is answered from memory', async () => {
    const before = descendants(gateway.pid).map(({ pid }) => pid);
    for (let round = 0; round < 20; round++) {
      await ask(gateway, 'GET', '/api/health/system');
      await ask(gateway, 'GET', '/v1/models');
      await ask(gateway, 'GET', '/api/metrics/prometheus');
    }
    expect(descendants(gateway.pid).map(({ pid }) => pid)).toEqual(before);
  });
});
