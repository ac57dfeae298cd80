/** Upstreams over a real port: a second real gateway behind the first, and stand-ins for servers that cannot run here. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import type { UpstreamRecord, UpstreamTestView } from '../contract/upstreams.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/gguf/writer.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { type Ask, ask } from './harness/http.ts';
import { json, provider, type StandIn, standIn } from './harness/stand-in.ts';
import { contentOf, dataOf, openStream } from './harness/stream.ts';
import { slotState } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 8,
  temperature: 0,
  ...more,
});

let home: string;
let deskHome: string;
/** The machine with the models. */
let desk: Gateway;
/** The one that the house talks to. */
let front: Gateway;
const standIns: StandIn[] = [];

const at = (method: string, path: string, options: Ask = {}) =>
  ask(front, method, path, { key: ADMIN_KEY, ...options });
const view = async (name: string) => (await at('GET', `/api/upstreams/${name}`)).json<UpstreamRecord>();
const write = (name: string, text: string) =>
  writeFileSync(join(home, 'config', 'upstreams', `${name}.toml`), text);
const listed = async () => (await at('GET', '/v1/models')).json<{ data: V1ModelRecord[] }>().data;

/** Writes an upstream file and waits until the gateway has taken it up and heard from the server. */
async function add(name: string, text: string): Promise<void> {
  write(name, text);
  await until(async () => (await at('GET', `/api/upstreams/${name}`)).status === 200, `upstream ${name}`);
  await at('POST', `/api/upstreams/${name}/test`);
}

async function server(how: Parameters<typeof standIn>[0]): Promise<StandIn> {
  const made = await standIn(how);
  standIns.push(made);
  return made;
}

const startDesk = (port = '0') =>
  startGateway({
    home: deskHome,
    env: { SVC_REQUIRE_AUTH: 'on', SVC_PORT: port },
    files: {
      'config/api.env': `SVC_ADMIN_KEY=${ADMIN_KEY}-desk\nSVC_CLIENT_KEY=${CLIENT_KEY}-desk\n`,
      'config/slots/agent.toml': 'model = "desk-chat"\ncontext = 1024\n',
    },
  });

beforeAll(async () => {
  deskHome = mkdtempSync(join(tmpdir(), 'svc-desk-'));
  mkdirSync(join(deskHome, 'state', 'models'), { recursive: true, mode: 0o700 });
  writeFileSync(
    join(deskHome, 'state', 'models', 'desk-chat.gguf'),
    encodeGguf(tinyChat({ reply: 'the desk speaks' })),
  );
  writeFileSync(join(deskHome, 'state', 'models', 'desk-vectors.gguf'), encodeGguf(tinyEmbed({ size: 32 })));
  desk = await startDesk();
  await slotState(desk, 'agent', 'ready', `${ADMIN_KEY}-desk`);
  home = mkdtempSync(join(tmpdir(), 'svc-front-'));
  front = await startGateway({
    home,
    env: { SVC_REQUIRE_AUTH: 'on' },
    files: {
      ...QUIET_FILE,
      'config/api.env': [
        `SVC_ADMIN_KEY=${ADMIN_KEY}`,
        `SVC_CLIENT_KEY=${CLIENT_KEY}`,
        `UPSTREAM_DESK=${CLIENT_KEY}-desk`,
        'UPSTREAM_CLOUD=sk-cloud-7f2a9c4e1b8d',
        '',
      ].join('\n'),
      'config/upstreams/desk.toml': `base_url = "${desk.url}/v1"\nkind = "svc"\nkey_env = "UPSTREAM_DESK"\n`,
    },
  });
});

afterAll(async () => {
  await Promise.all([front?.stop(), desk?.stop(), ...standIns.map((each) => each.down())]);
  for (const folder of [home, deskHome]) if (folder) rmSync(folder, { recursive: true, force: true });
});

describe('a second gateway behind the first', () => {
  it('its own models are listed under its name, and neither its aliases nor its virtual names', async () => {
    await until(async () => (await view('desk')).health === 'ok', 'the list of the desk');
    const records = (await listed()).filter(({ owned_by }) => owned_by === 'desk');
    expect(records.map(({ id }) => id).sort()).toEqual(['desk-chat', 'desk-vectors']);
    expect(records.find(({ id }) => id === 'desk-vectors')).toMatchObject({
      capabilities: { embeddings: true },
      _svc: { slot: null, state: 'ready' },
    });
    expect(records.find(({ id }) => id === 'desk-chat')?.context_length).toBe(1024);
    expect(
      (await ask(front, 'GET', '/v1/models?owned_by=desk')).json<{ data: unknown[] }>().data,
    ).toHaveLength(2);
  });

  it('chat, stream and embeddings go through, by the official client too', async () => {
    const openai = new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${front.url}/v1`, maxRetries: 0 });
    const { data, response } = await openai.chat.completions
      .create(chat('desk-chat') as never)
      .withResponse();
    expect((data as OpenAI.ChatCompletion).choices[0]?.message.content).toContain('the desk speaks');
    expect(response.headers.get('x-svc-upstream')).toBe('desk');
    expect(response.headers.get('x-svc-step')).toBe('upstream-cached');
    expect(response.headers.get('x-svc-slot')).toBeNull();
    const stream = await openStream(front, CHAT, chat('desk-chat', { stream: true }), { key: CLIENT_KEY });
    expect(await stream.ended).toBe(true);
    expect(contentOf(stream.text())).toContain('the desk speaks');
    expect(dataOf(stream.text()).at(-1)).toBe('[DONE]');
    const vectors = await openai.embeddings.create({ model: 'desk-vectors', input: ['a', 'b'] });
    expect(vectors.data.map(({ embedding }) => embedding.length)).toEqual([32, 32]);
    const { recent } = (await at('GET', '/api/requests')).json<{
      recent: { upstream: string; model: string }[];
    }>();
    expect(recent[0]).toMatchObject({ upstream: 'desk', model: 'desk-vectors' });
  });

  it('a caller who leaves ends the work there', async () => {
    const stream = await openStream(front, CHAT, chat('desk-chat', { stream: true, max_tokens: 900 }), {
      key: CLIENT_KEY,
    });
    stream.leave();
    await until(
      async () =>
        (await ask(desk, 'GET', '/api/slots/agent', { key: `${ADMIN_KEY}-desk` })).json<{ active: number }>()
          .active === 0,
      'the desk to stop',
    );
  });

  it('names that mean slots never go there', async () => {
    for (const model of ['agent', 'svc/agent', 'agent-hermes']) {
      const told = (await at('POST', '/api/dispatch/explain', { body: { path: CHAT, model } })).json();
      expect(told).toMatchObject({ slot: 'agent', upstream: null, lane: 'agent' });
    }
  });

  it('explain tells the step, and near names include its models', async () => {
    const told = (
      await at('POST', '/api/dispatch/explain', { body: { path: CHAT, model: 'desk-chat' } })
    ).json();
    expect(told).toMatchObject({ upstream: 'desk', slot: null, error: null });
    const missed = await at('POST', CHAT, { body: chat('desk-chad') });
    expect(missed.json()).toMatchObject({
      error: { code: 'dispatch.no_route', details: { suggestions: ['desk-chat'] } },
    });
  });

  it('the wrong key is not the caller’s fault', async () => {
    await add(
      'wrong',
      `base_url = "${desk.url}/v1"\nkey_env = "UPSTREAM_CLOUD"\nmodels = ["desk-chat-too"]\n`,
    );
    const answer = await at('POST', CHAT, { body: chat('desk-chat-too') });
    expect(answer).toMatchObject({ status: 502, code: 'upstream.auth_failed' });
    expect(answer.headers).toMatchObject({ 'x-should-retry': 'false', 'x-svc-upstream': 'wrong' });
    expect(await view('wrong')).toMatchObject({
      health: 'auth_failed',
      reason: 'It refused the key of this gateway.',
    });
  });

  it('its death is told honestly, and it is used again when it is back', async () => {
    await desk.stop('SIGKILL');
    for (let count = 0; count < 2; count++) {
      expect(await at('POST', CHAT, { body: chat('desk-chat') })).toMatchObject({
        status: 502,
        code: 'dispatch.upstream_unavailable',
      });
    }
    expect(await view('desk')).toMatchObject({ health: 'down', reason: 'Nothing listens at this address.' });
    const alone = await at('POST', CHAT, { body: chat('desk-chat') });
    expect(alone).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    expect(Number(alone.headers['retry-after'])).toBeGreaterThan(0);
    expect((await listed()).find(({ id }) => id === 'desk-chat')?._svc.state).toBe('offline');
    const metrics = (await ask(front, 'GET', '/api/metrics/prometheus')).text;
    expect(metrics).toContain('svc_upstream_up{upstream="desk"} 0');
    desk = await startDesk(String(desk.port));
    await slotState(desk, 'agent', 'ready', `${ADMIN_KEY}-desk`);
    await until(
      async () => (await at('POST', CHAT, { body: chat('desk-chat') })).status === 200,
      'the way back',
      30_000,
    );
    expect(await view('desk')).toMatchObject({ health: 'ok', reason: null, retry_at: null });
  });
});

describe('two upstreams with the same model', () => {
  it('one that can not be reached hands over within the same request', async () => {
    const first = await server(provider('twin'));
    const second = await server(provider('twin'));
    await add('twin-a', `base_url = "${first.url}"\npriority = 1\n`);
    await add('twin-b', `base_url = "${second.url}"\npriority = 2\n`);
    expect((await at('POST', CHAT, { body: chat('twin') })).headers['x-svc-upstream']).toBe('twin-a');
    await first.down();
    const answer = await at('POST', CHAT, { body: chat('twin') });
    expect(answer).toMatchObject({ status: 200, headers: { 'x-svc-upstream': 'twin-b' } });
    await first.up();
    await at('POST', '/api/upstreams/twin-a/test', { body: { model: 'twin' } });
    expect((await at('POST', CHAT, { body: chat('twin') })).headers['x-svc-upstream']).toBe('twin-a');
  });

  it('the own network comes before a guarded provider, and the cap of the day holds', async () => {
    const near = await server(provider('shared'));
    const far = await server(provider('shared', 'far-only'));
    await add('z-near', `base_url = "${near.url}"\npriority = 9\n`);
    await add(
      'a-far',
      `base_url = "${far.url}"\nremote = true\ndaily_requests = 2\nkey_env = "UPSTREAM_CLOUD"\n`,
    );
    expect((await at('POST', CHAT, { body: chat('shared') })).headers['x-svc-upstream']).toBe('z-near');
    for (let count = 0; count < 2; count++)
      expect((await at('POST', CHAT, { body: chat('far-only') })).status).toBe(200);
    const spent = await at('POST', CHAT, { body: chat('far-only') });
    expect(spent).toMatchObject({
      status: 429,
      code: 'upstream.daily_cap',
      headers: { 'x-should-retry': 'false' },
    });
    expect(await view('a-far')).toMatchObject({ requests_today: 2, daily_requests: 2 });
    expect(far.heard.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });
});

describe('what a provider of somebody else sees and says', () => {
  let cloud: StandIn;
  beforeAll(async () => {
    cloud = await server(provider('gpt-x', 'größe/模型:free'));
    await add('cloud', `base_url = "${cloud.url}/api/v1/"\nremote = true\nkey_env = "UPSTREAM_CLOUD"\n`);
  });

  it('our key, a short list of headers, and a body without our fields', async () => {
    cloud.heard.length = 0;
    const secret = 'caller-secret-41d8f0';
    const answer = await at('POST', `${CHAT}?api_key=${secret}`, {
      headers: {
        cookie: `svc_session=${secret}`,
        'x-svc-priority': 'batch',
        'x-svc-anything': secret,
        'x-api-key': secret,
        referer: `http://x/${secret}`,
        'x-forwarded-for': '10.1.2.3',
        'user-agent': secret,
      },
      body: chat('gpt-x', {
        omni: true,
        enable_thinking: false,
        chat_template_kwargs: { a: 1 },
        user: 'kept',
      }),
    });
    expect(answer.status).toBe(200);
    expect(answer.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content).toBe(
      'gpt-x from afar',
    );
    const [seen] = cloud.heard;
    expect(seen?.url).toBe('/api/v1/chat/completions');
    expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-request-id',
      'x-svc-hops',
    ]);
    expect(seen?.headers.authorization).toBe('Bearer sk-cloud-7f2a9c4e1b8d');
    expect(JSON.parse(seen?.body ?? '')).toEqual({ ...chat('gpt-x'), user: 'kept' });
    for (const hidden of [secret, ADMIN_KEY, CLIENT_KEY, '10.1.2.3'])
      expect(cloud.text()).not.toContain(hidden);
  });

  it('ids with slashes, colons and other scripts work everywhere', async () => {
    const id = 'größe/模型:free';
    const answer = await at('POST', CHAT, { body: chat(id) });
    expect(answer.json()).toMatchObject({ model: id });
    expect(answer.headers['x-svc-model']).toMatch(/^[\x20-\x7e]+$/);
    expect((await at('GET', `/v1/models/${encodeURIComponent(id)}`)).json()).toMatchObject({
      id,
      owned_by: 'cloud',
    });
  });

  it('its 429 passes through with its time to wait, and does not count against it', async () => {
    const limited = { error: { code: 'rate_limit_exceeded', message: 'slow down', type: 'x', param: null } };
    cloud.play(() => json(429, limited, { 'retry-after': '7' }));
    for (let count = 0; count < 6; count++) {
      const answer = await at('POST', CHAT, { body: chat('gpt-x') });
      expect(answer).toMatchObject({
        status: 429,
        headers: { 'retry-after': '7', 'x-svc-upstream': 'cloud' },
      });
      expect(answer.json()).toEqual(limited);
    }
    cloud.play(provider('gpt-x'));
    expect((await at('POST', CHAT, { body: chat('gpt-x') })).status).toBe(200);
  });

  it.each([
    ['in a good answer', 200],
    ['in an error that passes', 400],
    ['in an error that is wrapped', 500],
  ])('X01 our key that it repeats %s reaches nobody', async (_, status) => {
    const key = 'sk-cloud-7f2a9c4e1b8d';
    const error = status === 400 ? { code: 'bad', message: `your key ${key}` } : undefined;
    cloud.play(() => (_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'x-key': key });
      const text = JSON.stringify(error ? { error } : { choices: [], key, again: `x${key}x` });
      res.write(text.slice(0, 30));
      setTimeout(() => res.end(text.slice(30)), 20);
    });
    const answer = await at('POST', CHAT, { body: chat('gpt-x') });
    expect(answer.status).toBe(status);
    expect(JSON.stringify([answer.headers, answer.text])).not.toContain(key);
    expect(answer.text).toMatch(status === 200 ? /\*{6}/ : /hidden|status|error/);
    const trial = await at('POST', '/api/upstreams/cloud/test', { body: { model: 'gpt-x' } });
    for (const path of [
      '/api/upstreams',
      '/api/upstreams/cloud',
      '/api/requests',
      '/api/audit',
      '/api/settings',
    ])
      expect((await at('GET', path)).text + trial.text).not.toContain(key);
    expect(front.output()).not.toContain(key);
    cloud.play(provider('gpt-x'));
  });
});

describe('bad upstreams', () => {
  let bad: StandIn;
  beforeAll(async () => {
    bad = await server(provider('odd'));
    await add('odd', `base_url = "${bad.url}"\nidle_timeout_s = 1\n`);
  });
  const reset = async () => {
    bad.play(provider('odd'));
    await at('POST', '/api/upstreams/odd/test', { body: { model: 'odd' } });
  };
  const post = (more: object = {}) => at('POST', CHAT, { body: chat('odd', more) });

  it.each([
    [
      'HTML',
      502,
      'upstream.error',
      (_: unknown, res: import('node:http').ServerResponse) => {
        res.writeHead(502, { 'content-type': 'text/html' });
        res.end('<html><h1>502 Bad Gateway</h1></html>');
      },
    ],
    ['silence', 504, 'dispatch.upstream_timeout', () => {}],
    [
      'a connection that is cut',
      502,
      'dispatch.upstream_unavailable',
      (_: unknown, res: import('node:http').ServerResponse) => void res.destroy(),
    ],
    [
      'no HTTP',
      502,
      'upstream.error',
      (_: unknown, res: import('node:http').ServerResponse) => void res.socket?.end('SSH-2.0-x\r\n\r\n'),
    ],
    [
      'a redirect',
      502,
      'upstream.error',
      (_: unknown, res: import('node:http').ServerResponse) => {
        res.writeHead(307, { location: `${front.url}/v1/chat/completions` });
        res.end();
      },
    ],
    [
      'a compressed error',
      500,
      'upstream.error',
      (_: unknown, res: import('node:http').ServerResponse) => {
        res.writeHead(500, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        res.end(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]));
      },
    ],
  ])('%s is %d %s', async (_, status, code, listener) => {
    await reset();
    bad.play(() => listener as never);
    const answer = await post();
    expect(answer).toMatchObject({ status, code });
    expect(answer.text).not.toMatch(/SSH-2|location|127\.0\.0\.1/);
    expect(answer.json<{ error: { message: string } }>().error.message).toMatch(/^The engine or upstream/);
    expect((await view('odd')).health).toBe('failing');
  });

  it('a stream that breaks off ends with an error event and no [DONE]', async () => {
    await reset();
    bad.play(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n', () =>
        setTimeout(() => res.destroy(), 20),
      );
    });
    const stream = await openStream(front, CHAT, chat('odd', { stream: true }), { key: CLIENT_KEY });
    await stream.ended;
    const events = dataOf(stream.text());
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({
      error: { code: 'dispatch.upstream_unavailable' },
    });
    expect(events).not.toContain('[DONE]');
  });

  it.each([
    ['less', 5, '{"cho'],
    ['more', 5000, null],
  ])('a length that says %s than comes costs this answer, never the next one', async (_, length, text) => {
    await reset();
    bad.play(() => (_req, res) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
      res.socket?.end(`${head}{"choices":[]}`);
    });
    const outcome = await post().then(
      (answer) => answer.text,
      () => null,
    );
    expect(outcome).toBe(text);
    await reset();
    expect((await post()).status).toBe(200);
  });

  it('a huge list is bounded, one without end is given up', async () => {
    bad.play(({ url, ...rest }) =>
      url.includes('models')
        ? json(200, { data: Array.from({ length: 9000 }, (_, n) => ({ id: `m-${n}` })) })
        : provider()({ url, ...rest }),
    );
    expect((await at('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>()).toMatchObject({
      ok: true,
    });
    expect((await view('odd')).models).toBe(2000);
    bad.play(() => (_req, res) => {
      const more = () => {
        if (res.destroyed) return;
        res.write(Buffer.alloc(1 << 20, 'x'));
        setImmediate(more);
      };
      more();
    });
    const endless = (await at('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>();
    expect(endless).toMatchObject({ ok: false, steps: [{ message: 'Its answer is too large.' }] });
    expect((await view('odd')).models).toBe(2000);
    await reset();
  });

  it('fails often, is left alone, and comes back by one trial', async () => {
    await reset();
    bad.play(() => json(500, { detail: 'broken' }));
    for (let count = 0; count < 5; count++) expect((await post()).status).toBe(500);
    const before = bad.heard.length;
    expect(await post()).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    expect(bad.heard).toHaveLength(before);
    await reset();
    expect((await post()).status).toBe(200);
  });
});

describe('a cluster behind one address', () => {
  /** What Ray Serve and vLLM publish: their list, their 404, and 503 while replicas start. */
  const vllm = {
    object: 'list',
    data: [
      {
        id: 'meta-llama/Llama-3',
        object: 'model',
        created: 1700000000,
        owned_by: 'vllm',
        root: '/models/llama',
        parent: null,
        max_model_len: 131072,
        permission: [],
      },
    ],
  };
  let replicas = 0;

  it('is listed with its window, reranks natively, and its starting replicas are told as they are', async () => {
    const ray = await server(({ url, body }) => {
      if (url.endsWith('/models')) return json(200, vllm);
      if (url.endsWith('/rerank')) return json(200, { results: [{ index: 0, relevance_score: 0.5 }] });
      if (replicas === 0) {
        return (_req, res) => {
          res.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '2' });
          res.end('Request dropped due to backpressure');
        };
      }
      const { model } = JSON.parse(body) as { model: string };
      if (model === 'meta-llama/Llama-3') return provider()({ method: 'POST', url, headers: {}, body });
      return json(404, {
        object: 'error',
        message: `The model \`${model}\` does not exist.`,
        type: 'NotFoundError',
        param: null,
        code: 404,
      });
    });
    await add('cluster', `base_url = "${ray.url}/v1"\nkind = "vllm"\n`);
    const record = (await listed()).find(({ id }) => id === 'meta-llama/Llama-3');
    expect(record).toMatchObject({ owned_by: 'cluster', context_length: 131072, created: 1700000000 });
    for (let count = 0; count < 6; count++) {
      const busy = await at('POST', CHAT, { body: chat('meta-llama/Llama-3') });
      expect(busy).toMatchObject({ status: 503, code: 'upstream.error', headers: { 'retry-after': '2' } });
    }
    replicas = 1;
    expect((await at('POST', CHAT, { body: chat('meta-llama/Llama-3') })).status).toBe(200);
    await at('POST', '/v1/rerankings', {
      body: { model: 'meta-llama/Llama-3', query: 'a', documents: ['b'] },
    });
    expect(ray.heard.at(-1)?.url).toBe('/v1/rerank');
    await add('cluster', `base_url = "${ray.url}/v1"\nkind = "vllm"\nmodels = ["gone"]\n`);
    await until(async () => (await view('cluster')).model_ids?.[0] === 'gone', 'the new file');
    expect((await at('POST', CHAT, { body: chat('gone') })).json()).toMatchObject({
      error: {
        code: 'upstream.error',
        message: 'The model `gone` does not exist.',
        details: { upstream_status: 404 },
      },
    });
  });
});

describe('loops', () => {
  it('the gateway as its own upstream is refused, by its address and by its own answer', async () => {
    await add('mirror', `base_url = "${front.url}/v1"\nmodels = ["echo"]\n`);
    expect(await view('mirror')).toMatchObject({ health: 'loop' });
    expect(await at('POST', CHAT, { body: chat('echo') })).toMatchObject({
      status: 508,
      code: 'upstream.loop',
    });
    const around = await server(({ url, method, headers, body }) => async (_req, res) => {
      const { host: _, connection: __, ...rest } = headers;
      const answer = await ask(front, method, url, {
        headers: { ...(rest as Record<string, string>), authorization: `Bearer ${ADMIN_KEY}` },
        ...(body ? { body } : {}),
      });
      res.writeHead(answer.status, {
        'content-type': 'application/json',
        'x-svc-instance': String(answer.headers['x-svc-instance'] ?? ''),
      });
      res.end(answer.text);
    });
    await add('around', `base_url = "${around.url}/v1"\n`);
    expect(await view('around')).toMatchObject({ health: 'loop', models: 0 });
  });

  it('two gateways that send each other the same model stop after one round', async () => {
    const deskKey = `${ADMIN_KEY}-desk`;
    const body = {
      name: 'front',
      base_url: `${front.url}/v1`,
      models: ['nowhere'],
      key_env: 'UPSTREAM_FRONT',
    };
    writeFileSync(
      join(deskHome, 'config/api.env'),
      `SVC_ADMIN_KEY=${deskKey}\nSVC_CLIENT_KEY=${CLIENT_KEY}-desk\nUPSTREAM_FRONT=${CLIENT_KEY}\n`,
    );
    expect((await ask(desk, 'POST', '/api/upstreams', { key: deskKey, body })).status).toBe(200);
    await until(
      async () =>
        (await ask(desk, 'GET', '/api/upstreams/front', { key: deskKey })).json<UpstreamRecord>().key_set ===
        true,
      'the key',
    );
    await add('back', `base_url = "${desk.url}/v1"\nkey_env = "UPSTREAM_DESK"\nmodels = ["nowhere"]\n`);
    const answer = await at('POST', CHAT, { body: chat('nowhere') });
    expect(answer).toMatchObject({ status: 508, code: 'upstream.loop' });
    expect(answer.headers['x-should-retry']).toBe('false');
  });
});

describe('the routes', () => {
  it('an administrator adds, changes, tries and removes one; the audit trail says so', async () => {
    const there = await server(provider('route-model'));
    const body = { name: 'routes', base_url: there.url, key_env: 'UPSTREAM_CLOUD' };
    expect((await at('POST', '/api/upstreams', { body })).json()).toMatchObject({
      name: 'routes',
      key_set: true,
    });
    expect(await at('POST', '/api/upstreams', { body })).toMatchObject({
      status: 409,
      code: 'upstream.exists',
    });
    const trial = (
      await at('POST', '/api/upstreams/routes/test', { body: { model: 'route-model' } })
    ).json<UpstreamTestView>();
    expect(trial).toMatchObject({
      ok: true,
      steps: [
        { step: 'models', ok: true, status: 200, message: '1 models' },
        { step: 'chat', ok: true, status: 200, message: 'It answered a chat.' },
      ],
      upstream: { health: 'ok', model_ids: ['route-model'] },
    });
    const moved = await at('PUT', '/api/upstreams/routes', { body: { base_url: 'http://127.0.0.1:9/v1' } });
    expect(moved.json()).toMatchObject({ key_env: null, base_url: 'http://127.0.0.1:9/v1', models: 0 });
    expect((await at('POST', '/api/upstreams/routes/test')).json()).toMatchObject({
      ok: false,
      steps: [{ step: 'models', ok: false, status: null, message: 'Nothing listens at this address.' }],
    });
    expect((await at('DELETE', '/api/upstreams/routes')).json()).toEqual({ removed: 'routes' });
    expect(await at('GET', '/api/upstreams/routes')).toMatchObject({
      status: 404,
      code: 'upstream.not_found',
    });
    const { entries } = (await at('GET', '/api/audit')).json<{ entries: { action: string }[] }>();
    const actions = entries.map(({ action }) => action);
    for (const action of ['create', 'test', 'change', 'remove'])
      expect(actions).toContain(`upstream.${action}`);
  });

  it('a bad body names field and reason, never the value', async () => {
    for (const [body, path] of [
      [{ name: 'x', base_url: 'http://u:sk-secret@h' }, 'base_url'],
      [{ name: 'x', base_url: 'http://169.254.169.254/v1' }, 'base_url'],
      [{ name: 'x', base_url: 'http://h', key_env: 'sk-secret-value' }, 'key_env'],
      [{ name: 'x', base_url: 'http://h', key_env: 'SVC_ADMIN_KEY' }, 'key_env'],
      [{ name: '../x', base_url: 'http://h' }, 'name'],
      [{ name: 'x', base_url: 'http://h', header: 'Cookie' }, 'header'],
    ] as const) {
      const answer = await at('POST', '/api/upstreams', { body });
      expect(answer.status).toBe(422);
      expect(answer.json()).toMatchObject({ error: { details: { fields: [{ path }] } } });
      expect(answer.text).not.toContain('sk-secret');
    }
  });

  it('a client sees name, health and number of models, and changes nothing', async () => {
    const { upstreams } = (await ask(front, 'GET', '/api/upstreams', { key: CLIENT_KEY })).json<{
      upstreams: UpstreamRecord[];
    }>();
    expect(Object.keys(upstreams[0] ?? {}).sort()).toEqual(
      ['enabled', 'health', 'kind', 'listed_at', 'models', 'name', 'priority', 'remote'].sort(),
    );
    expect(JSON.stringify(upstreams)).not.toMatch(/http|UPSTREAM_/);
    expect((await ask(front, 'GET', '/api/upstreams/desk', { key: CLIENT_KEY })).code).toBe('auth.forbidden');
    const admins = (await at('GET', '/api/upstreams')).json<{ upstreams: UpstreamRecord[] }>().upstreams;
    expect(admins.find(({ name }) => name === 'desk')).toMatchObject({
      base_url: `${desk.url}/v1`,
      key_env: 'UPSTREAM_DESK',
    });
  });

  it('listing asks no upstream anything', async () => {
    const quiet = await server(provider('quiet'));
    await add('quiet', `base_url = "${quiet.url}"\n`);
    const before = quiet.heard.length;
    for (const path of [
      '/v1/models',
      '/api/upstreams',
      '/api/upstreams/quiet',
      '/api/metrics/prometheus',
      '/api/status',
    ])
      expect((await at('GET', path)).status).toBe(200);
    expect(quiet.heard).toHaveLength(before);
  });
});
