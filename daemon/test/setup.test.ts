/**
 * The first run over a real port (docs/spec/contract.md#route-setup,
 * docs/spec/specification.md#route-classes): real downloads of tiny models from a stand-in hub.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SetupResponse, type SetupView } from '../contract/setup.ts';
import type { AuditRow } from '../contract/system.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../models/testing/hub.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type HttpResponse, login, type SendOptions, send } from './harness/http.ts';

const CHAT = {
  slot: 'agent',
  model: 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF:smollm2-360m-instruct-q8_0.gguf',
};
const EMBED = { slot: 'embed', model: 'nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0' };
const RERANK = { slot: 'rerank', model: 'gpustack/bge-reranker-v2-m3-GGUF:bge-reranker-v2-m3-Q8_0.gguf' };
const REPLY = 'Setup has installed me.';
const SMALL_MEMORY = { env: { SVC_MEMORY_LIMIT: '2400000000' } };
let hub: FakeHub;
let gateway: Gateway;

beforeAll(async () => {
  const chat = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', reply: REPLY, width: 64, runs: false })));
  hub = await startHub({
    'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF': {
      files: { 'smollm2-360m-instruct-q8_0.gguf': chat },
      licence: 'apache-2.0',
    },
    'nomic-ai/nomic-embed-text-v1.5-GGUF': {
      files: { 'nomic-embed-text-v1.5.Q8_0.gguf': Buffer.from(encodeGguf(tinyEmbed())) },
    },
    'gpustack/bge-reranker-v2-m3-GGUF': {
      files: { 'bge-reranker-v2-m3-Q8_0.gguf': chat },
      promises: { 'bge-reranker-v2-m3-Q8_0.gguf': 'f'.repeat(64) },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
  await hub.close();
});

const start = (home: string, env: Record<string, string> = {}) =>
  startGateway({ home, env: { HF_ENDPOINT: hub.url, ...SMALL_MEMORY.env, ...env } });
const call = (method: string, path: string, options: SendOptions = {}): Promise<HttpResponse> =>
  send(gateway, method, path, options);
const apply = (body: unknown, options: SendOptions = {}) =>
  call('POST', '/api/setup/apply', { body, ...options });
const view = async (options: SendOptions = {}): Promise<SetupView> =>
  (await call('GET', '/api/setup', options)).json<SetupView>();
const workOn = async (slot: string) => (await view()).work.find((work) => work.slot === slot);
const phase = (slot: string, wanted: string) =>
  until(async () => (await workOn(slot))?.phase === wanted, `slot ${slot} to be ${wanted}`, 45_000);

test('a first run from an empty folder to a reply, across a restart, to a key', async () => {
  const home = newHome();
  mkdirSync(join(home, '.cache', 'llama.cpp'), { recursive: true });
  writeFileSync(join(home, '.cache', 'llama.cpp', 'mine.gguf'), encodeGguf(tinyEmbed()));
  // The test machine may have a public address.
  mkdirSync(join(home, 'config'), { mode: 0o700 });
  writeFileSync(join(home, 'config', 'config.toml'), '[security]\nallow_public_without_auth = true\n');
  gateway = await start(home);

  await until(async () => (await view()).set !== null, 'the first probe');
  const fresh = await view();
  expect(SetupResponse.parse(fresh)).toEqual(fresh);
  expect(fresh).toMatchObject({ pending: true, finished: false, has_admin_key: false, real_model: false });
  expect(fresh.steps.map(({ state }) => state)).toEqual(['open', 'open', 'open']);
  expect(fresh.set?.items.map(({ slot }) => slot)).toContain('agent');
  expect(fresh.set?.download_bytes).toBe(fresh.set?.items.reduce((all, item) => all + item.size_bytes, 0));
  expect(fresh.reach).toMatchObject({ choice: 'machine', restart_needed: false, held_by: null });
  expect(
    (await call('POST', '/api/setup/probe')).json<SetupView>().hardware?.host.cores_physical,
  ).toBeGreaterThan(0);

  // A failed model does not affect the others.
  hub.fault = { slowMs: 60 };
  expect((await apply({ models: [CHAT, EMBED, RERANK] })).status).toBe(200);
  await until(async () => ((await workOn('agent'))?.pull?.bytes ?? 0) > 0, 'the first bytes');
  await apply({ steps: { models: 'done', reach: 'skipped' } });
  await gateway.stop('SIGKILL');
  hub.fault = {};

  gateway = await start(home);
  const resumed = await view();
  expect(resumed.steps.map(({ state }) => state)).toEqual(['done', 'skipped', 'open']);
  await phase('agent', 'ready');
  await phase('embed', 'ready');
  await phase('rerank', 'failed');
  expect(await workOn('rerank')).toMatchObject({ error: { code: 'pull.checksum_mismatch' } });
  expect(readFileSync(join(home, 'config', 'slots', 'agent.toml'), 'utf8')).toContain(
    'model = "smollm2-360m-instruct-q8_0"',
  );
  expect(readFileSync(join(home, 'config', 'slots', 'embed.toml'), 'utf8')).toContain('type = "embedding"');
  const body = { model: 'agent', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 40 };
  expect((await call('POST', '/v1/chat/completions', { body })).text).toContain(REPLY);
  // The model for a first try is no choice, so a better one is still recommended.
  const tried = (await view()).set;
  expect(tried?.items.map(({ slot }) => slot)).toContain('agent');
  expect([fresh.set?.quick_start?.model, tried?.quick_start]).toEqual([CHAT.model, null]);

  // Applying the same again sends no request to the hub.
  const requestCount = hub.requests.length;
  await apply({ models: [CHAT, EMBED] });
  expect([(await workOn('agent'))?.phase, hub.requests.length]).toEqual(['ready', requestCount]);

  // A removed model is recommended and downloaded again.
  expect((await call('DELETE', '/api/slots/agent')).status).toBeLessThan(300);
  expect((await call('DELETE', '/api/models/smollm2-360m-instruct-q8_0')).status).toBeLessThan(300);
  const without = await view();
  expect(without.work.map(({ slot }) => slot)).not.toContain('agent');
  expect(without.set?.items.map(({ slot }) => slot)).toContain('agent');
  await apply({ models: [CHAT] });
  await phase('agent', 'ready');
  expect(hub.requests.length).toBeGreaterThan(requestCount);

  const folder = fresh.folders.find(({ path }) => path === join(home, '.cache', 'llama.cpp'));
  expect(folder).toMatchObject({ tool: 'llama.cpp', state: 'readable', models: 1 });
  const used = (await apply({ folders: [folder?.path] })).json<SetupView>();
  expect(used.folders.find(({ path }) => path === folder?.path)?.state).toBe('used');
  expect((await call('GET', '/api/models')).text).toContain('"mine"');

  const network = (await apply({ reach: 'network', steps: { reach: 'done' } })).json<SetupView>();
  expect(network.reach).toMatchObject({ choice: 'network', next_bind_host: '0.0.0.0', restart_needed: true });
  expect(network.bind_host).toBe('127.0.0.1');
  expect(readFileSync(join(home, 'config', 'config.toml'), 'utf8')).toContain('bind_host = "0.0.0.0"');
  expect((await apply({ reach: 'machine' })).json<SetupView>().reach.restart_needed).toBe(false);
  expect((await apply({ finished: true })).json<SetupView>()).toMatchObject({
    finished: true,
    pending: false,
  });
  const { entries } = (await call('GET', '/api/audit')).json<{ entries: AuditRow[] }>();
  expect(entries.filter(({ action }) => action === 'setup.apply').length).toBeGreaterThan(5);
}, 120_000);

describe('invalid input changes nothing', () => {
  test.each([
    ['no JSON', '{', 400, 'request.invalid_json'],
    ['nothing', {}, 422, 'request.invalid'],
    ['a key', { admin_key: 'x' }, 422, 'request.invalid'],
    ['enforcement', { require_auth: true }, 422, 'request.invalid'],
    ['a program', { models: [CHAT], command: ['sh'] }, 422, 'request.invalid'],
    ['a foreign model', { models: [{ slot: 'agent', model: 'evil/repo:Q8_0' }] }, 422, 'request.invalid'],
    ['a slot of another type', { models: [{ ...CHAT, slot: 'tts' }] }, 422, 'request.invalid'],
    ['an invalid slot name', { models: [{ ...CHAT, slot: '../x' }] }, 422, 'request.invalid'],
    [
      'a slot twice',
      { models: [CHAT, { ...CHAT, model: 'unsloth/Qwen3.5-9B-GGUF:Qwen3.5-9B-UD-Q4_K_XL.gguf' }] },
      422,
      'request.invalid',
    ],
    ['an unknown folder', { folders: ['/etc'] }, 422, 'request.invalid'],
    ['an unknown address', { reach: '192.0.2.1' }, 422, 'request.invalid'],
    ['an unknown step', { steps: { coffee: 'done' } }, 422, 'request.invalid'],
    ['an unknown state', { steps: { key: 'maybe' } }, 422, 'request.invalid'],
  ])('%s', async (_, body, status, code) => {
    const before = await view();
    const response = await apply(body, { headers: { 'content-type': 'application/json' } });
    expect([response.status, response.code]).toEqual([status, code]);
    const after = await view();
    expect([after.steps, after.work, after.reach, after.finished]).toEqual([
      before.steps,
      before.work,
      before.reach,
      before.finished,
    ]);
  });

  test('another site, another host', async () => {
    const origin = await apply({ finished: false }, { headers: { origin: 'https://evil.example.org:1' } });
    expect(origin.code).toBe('auth.origin_forbidden');
    const host = await call('GET', '/api/setup', { headers: { host: 'rebound.io' } });
    expect(host.code).toBe('auth.host_forbidden');
  });
});

test('an unreachable hub is queried once, reported for all models, and queried again on demand', async () => {
  const home = newHome();
  const first = gateway;
  const dead = await startHub();
  await dead.close();
  gateway = await start(home, { HF_ENDPOINT: dead.url });
  try {
    await apply({ models: [CHAT, EMBED] });
    await phase('agent', 'failed');
    await phase('embed', 'failed');
    expect(await workOn('embed')).toMatchObject({ error: { code: 'pull.hub_unreachable' } });
    const { pending, reach } = await view();
    expect(pending).toBe(true);
    const network = await apply({ reach: 'network' });
    expect([network.status, network.code]).toEqual(reach.public ? [409, 'setup.exposed'] : [200, undefined]);
    expect((await apply({ reach: 'machine' })).json<SetupView>().reach.choice).toBe('machine');
    // The demonstration model answers meanwhile.
    const body = { model: 'agent', messages: [{ role: 'user', content: 'Hello' }] };
    await until(
      async () => (await call('POST', '/v1/chat/completions', { body })).status === 200,
      'an answer',
    );
  } finally {
    await gateway.stop();
  }
  gateway = await start(home, { SVC_REQUIRE_AUTH: 'on' });
  try {
    // Without a key, only open and bootstrap routes are served.
    expect((await call('GET', '/api/pulls')).status).toBe(401);
    expect(await workOn('agent')).toMatchObject({ phase: 'failed' });
    await apply({ models: [CHAT] });
    await phase('agent', 'ready');
    writeFileSync(
      join(home, 'config', 'api.env'),
      `SVC_ADMIN_KEY=${ADMIN_KEY}\nSVC_CLIENT_KEY=${CLIENT_KEY}\n`,
    );
    await until(async () => (await call('GET', '/api/setup')).status === 401, 'the key to be in effect');
    for (const [method, path] of [
      ['GET', '/api/setup'],
      ['POST', '/api/setup/probe'],
      ['POST', '/api/setup/apply'],
    ] as const) {
      const body = path.endsWith('apply') ? { finished: true } : undefined;
      expect([path, (await call(method, path, { body })).code]).toEqual([path, 'auth.required']);
      expect([path, (await call(method, path, { body, key: CLIENT_KEY })).code]).toEqual([
        path,
        'auth.forbidden',
      ]);
      expect([path, (await call(method, path, { body, key: ADMIN_KEY })).status]).toEqual([path, 200]);
    }
    const cookie = await login(gateway, ADMIN_KEY);
    const setupView = await view({ cookie });
    expect(setupView.steps.find(({ id }) => id === 'key')?.state).toBe('done');
    expect(JSON.stringify(setupView)).not.toContain(ADMIN_KEY);
  } finally {
    await gateway.stop();
    gateway.remove();
    gateway = first;
  }
}, 120_000);

test('a slot with a configured model keeps it', async () => {
  await call('POST', '/api/slots', { body: { name: 'utility', type: 'llm', model: 'another-model' } });
  await apply({ models: [{ ...CHAT, slot: 'utility' }] });
  await phase('utility', 'failed');
  expect(await workOn('utility')).toMatchObject({ error: { code: 'slot.exists' } });
  expect(readFileSync(join(gateway.home, 'config', 'slots', 'utility.toml'), 'utf8')).toContain(
    'another-model',
  );
});
