/** Providers and clusters behind the gateway, over a real port: stand-ins with their published responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, CLOUD_KEY, chat, Front } from './harness/front-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { json, provider, type StandIn } from './harness/stand-in.ts';

const front = new Front();
beforeAll(() => front.start());
afterAll(() => front.close());

describe('two upstreams with the same model', () => {
  it('fail over within the same request when one is unreachable', async () => {
    const first = await front.startStandIn(provider('twin'));
    const second = await front.startStandIn(provider('twin'));
    await front.add('twin-a', `base_url = "${first.url}"\npriority = 1\n`);
    await front.add('twin-b', `base_url = "${second.url}"\npriority = 2\n`);
    expect((await front.send('POST', CHAT, { body: chat('twin') })).headers['x-svc-upstream']).toBe('twin-a');
    await first.stop();
    const response = await front.send('POST', CHAT, { body: chat('twin') });
    expect(response).toMatchObject({ status: 200, headers: { 'x-svc-upstream': 'twin-b' } });
    await first.start();
    await front.send('POST', '/api/upstreams/twin-a/test', { body: { model: 'twin' } });
    expect((await front.send('POST', CHAT, { body: chat('twin') })).headers['x-svc-upstream']).toBe('twin-a');
  });

  it('the own network is used before a guarded provider, and the daily cap is enforced', async () => {
    const near = await front.startStandIn(provider('shared'));
    const far = await front.startStandIn(provider('shared', 'far-only'));
    await front.add('z-near', `base_url = "${near.url}"\npriority = 9\n`);
    await front.add(
      'a-far',
      `base_url = "${far.url}"\nremote = true\ndaily_requests = 2\nkey_env = "UPSTREAM_CLOUD"\n`,
    );
    expect((await front.send('POST', CHAT, { body: chat('shared') })).headers['x-svc-upstream']).toBe(
      'z-near',
    );
    for (let count = 0; count < 2; count++)
      expect((await front.send('POST', CHAT, { body: chat('far-only') })).status).toBe(200);
    const spent = await front.send('POST', CHAT, { body: chat('far-only') });
    expect(spent).toMatchObject({
      status: 429,
      code: 'upstream.daily_cap',
      headers: { 'x-should-retry': 'false' },
    });
    expect(await front.upstream('a-far')).toMatchObject({ requests_today: 2, daily_requests: 2 });
    expect(far.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });
});

it('a stream without token counts marks the sums as incomplete', async () => {
  const fine = provider('uncounted');
  const server = await front.startStandIn((request) => {
    if (request.method === 'GET') return fine(request);
    return (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const choice = { index: 0, delta: { content: 'hi' }, finish_reason: 'stop' };
      res.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
    };
  });
  await front.add('uncounted', `base_url = "${server.url}"\n`);
  for (let count = 0; count < 2; count++)
    expect((await front.send('POST', CHAT, { body: chat('uncounted', { stream: true }) })).text).toContain(
      '[DONE]',
    );
  expect(server.requests.at(-1)?.body).toContain('"include_usage":true');
  const row = async () =>
    (await front.send('GET', '/api/usage'))
      .json<{ days: { model: string; requests: number; uncounted: number }[] }>()
      .days.find(({ model }) => model === 'uncounted');
  await until(async () => (await row())?.requests === 2, 'the sums to be written');
  expect(await row()).toMatchObject({ requests: 2, uncounted: 2, prompt_tokens: 0 });
});

describe('requests to and responses of a third-party provider', () => {
  let cloud: StandIn;
  beforeAll(async () => {
    cloud = await front.startStandIn(provider('gpt-x', 'größe/模型:free'));
    await front.add(
      'cloud',
      `base_url = "${cloud.url}/api/v1/"\nremote = true\nkey_env = "UPSTREAM_CLOUD"\n`,
    );
  });

  it('our key, a short list of headers, and a body without our fields', async () => {
    cloud.requests.length = 0;
    const secret = 'caller-secret-41d8f0';
    const response = await front.send('POST', `${CHAT}?api_key=${secret}`, {
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
        omni: false,
        enable_thinking: false,
        chat_template_kwargs: { a: 1 },
        user: 'caller',
      }),
    });
    expect(response.status).toBe(200);
    expect(response.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content).toBe(
      'gpt-x from afar',
    );
    const [received] = cloud.requests;
    expect(received?.url).toBe('/api/v1/chat/completions');
    expect(Object.keys(received?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-request-id',
      'x-svc-hops',
    ]);
    expect(received?.headers.authorization).toBe(`Bearer ${CLOUD_KEY}`);
    expect(JSON.parse(received?.body ?? '')).toEqual({ ...chat('gpt-x'), user: 'caller' });
    for (const hidden of [secret, ADMIN_KEY, CLIENT_KEY, '10.1.2.3'])
      expect(cloud.text()).not.toContain(hidden);
  });

  it('ids with slashes, colons and other scripts work everywhere', async () => {
    const id = 'größe/模型:free';
    const response = await front.send('POST', CHAT, { body: chat(id) });
    expect(response.json()).toMatchObject({ model: id });
    expect(response.headers['x-svc-model']).toMatch(/^[\x20-\x7e]+$/);
    expect((await front.send('GET', `/v1/models/${encodeURIComponent(id)}`)).json()).toMatchObject({
      id,
      owned_by: 'cloud',
    });
  });

  it('its 429 passes through with Retry-After, and does not count as a failure', async () => {
    const limited = { error: { code: 'rate_limit_exceeded', message: 'slow down', type: 'x', param: null } };
    cloud.respondWith(() => json(429, limited, { 'retry-after': '7' }));
    for (let count = 0; count < 6; count++) {
      const response = await front.send('POST', CHAT, { body: chat('gpt-x') });
      expect(response).toMatchObject({
        status: 429,
        headers: { 'retry-after': '7', 'x-svc-upstream': 'cloud' },
      });
      expect(response.json()).toEqual(limited);
    }
    cloud.respondWith(provider('gpt-x'));
    expect((await front.send('POST', CHAT, { body: chat('gpt-x') })).status).toBe(200);
  });

  it.each([
    ['in a successful response', 200],
    ['in an error that is passed on', 400],
    ['in an error that is wrapped', 500],
  ])('X01 our key, repeated %s, does not reach the caller', async (_, status) => {
    const key = CLOUD_KEY;
    const error = status === 400 ? { code: 'bad', message: `your key ${key}` } : undefined;
    cloud.respondWith(() => (_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'x-key': key });
      const text = JSON.stringify(error ? { error } : { choices: [], key, again: `x${key}x` });
      res.write(text.slice(0, 30));
      setTimeout(() => res.end(text.slice(30)), 20);
    });
    const response = await front.send('POST', CHAT, { body: chat('gpt-x') });
    expect(response.status).toBe(status);
    expect(JSON.stringify([response.headers, response.text])).not.toContain(key);
    expect(response.text).toMatch(status === 200 ? /\*{6}/ : /hidden|status|error/);
    const trial = await front.send('POST', '/api/upstreams/cloud/test', { body: { model: 'gpt-x' } });
    for (const path of [
      '/api/upstreams',
      '/api/upstreams/cloud',
      '/api/requests',
      '/api/audit',
      '/api/settings',
    ])
      expect((await front.send('GET', path)).text + trial.text).not.toContain(key);
    expect(front.gateway.output()).not.toContain(key);
    cloud.respondWith(provider('gpt-x'));
  });
});

describe('a cluster behind one address', () => {
  /** Published responses of Ray Serve and vLLM: the list, 404, and 503 while replicas start. */
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

  it('is listed with its window, reranks natively, and errors of its starting replicas are passed on', async () => {
    const ray = await front.startStandIn(({ url, body }) => {
      if (url.endsWith('/models')) return json(200, vllm);
      if (url.endsWith('/rerank')) return json(200, { results: [{ index: 0, relevance_score: 0.5 }] });
      if (replicas === 0) {
        return (_req, res) => {
          res.writeHead(503, { 'content-type': 'text/plain' });
          res.end('Request dropped due to backpressure (num_queued_requests=5, max_queued_requests=5).');
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
    await front.add('cluster', `base_url = "${ray.url}/v1"\nkind = "vllm"\n`);
    const record = (await front.listModels()).find(({ id }) => id === 'meta-llama/Llama-3');
    expect(record).toMatchObject({ owned_by: 'cluster', context_length: 131072, created: 1700000000 });
    for (let count = 0; count < 6; count++) {
      const busy = await front.send('POST', CHAT, { body: chat('meta-llama/Llama-3') });
      expect(busy).toMatchObject({ status: 503, code: 'upstream.error' });
      expect(busy.text).toContain('Request dropped due to backpressure');
    }
    expect((await front.upstream('cluster')).health).toBe('busy');
    replicas = 1;
    expect((await front.send('POST', CHAT, { body: chat('meta-llama/Llama-3') })).status).toBe(200);
    await front.send('POST', '/v1/rerankings', {
      body: { model: 'meta-llama/Llama-3', query: 'a', documents: ['b'] },
    });
    expect(ray.requests.at(-1)?.url).toBe('/v1/rerank');
    await front.add('cluster', `base_url = "${ray.url}/v1"\nkind = "vllm"\nmodels = ["gone"]\n`);
    await until(async () => (await front.upstream('cluster')).model_ids?.[0] === 'gone', 'the new file');
    expect((await front.send('POST', CHAT, { body: chat('gone') })).json()).toMatchObject({
      error: {
        code: 'upstream.error',
        message: 'The model `gone` does not exist.',
        details: { upstream_status: 404 },
      },
    });
  });
});
