/** Headers, paths and bodies between gateway and engine, in both directions. */
import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { NO_UPSTREAMS, type Upstreams } from '../inference/ports.ts';
import { upstreamCall, upstreamConfigOf } from '../inference/testing/builders.ts';
import { post, readAll } from '../inference/testing/client.ts';
import { CHAT, closeAfterEach, closers, hello, setUp } from '../inference/testing/forwarding.ts';
import { listen } from '../inference/testing/gateway.ts';
import {
  expectedHeaders,
  MARKED_HEADERS,
  type RecordedRequest,
  recorder,
  SECRET,
} from '../inference/testing/recorder.ts';

closeAfterEach();

describe('H01 headers towards an engine', () => {
  const form = `--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nstt\r\n--x--\r\n`;
  it.each([
    [CHAT, JSON.stringify(hello), JSON.stringify({ ...hello, model: 'qwen' }), 'llm', {}],
    ['/v1/completions', '{"prompt":"x"}', '{"prompt":"x"}', 'llm', {}],
    ['/v1/embeddings', '{"input":"x"}', '{"model":"qwen","input":"x"}', 'embedding', {}],
    ['/v1/rerankings', '{"query":"x"}', '{"model":"qwen","query":"x"}', 'rerank', {}],
    ['/v1/audio/transcriptions', form, form, 'stt', { 'content-type': 'multipart/form-data; boundary=x' }],
  ] as const)('%s: only our own headers, and the exact body', async (path, body, arrives, type, more) => {
    const received: RecordedRequest[] = [];
    const { gateway, slots, engine } = await setUp(recorder(received));
    const names = { llm: 'agent', embedding: 'embed', rerank: 'rerank', stt: 'stt' };
    slots.records = [slotRecord({ name: names[type], type, model: 'qwen' })];
    const response = await post(gateway.origin, path, body, {
      ...MARKED_HEADERS,
      accept: 'application/json',
      ...more,
    });
    expect(response).toMatchObject({ status: 200, body: '{}' });
    expect(received).toEqual([
      {
        method: 'POST',
        url: path === '/v1/rerankings' ? '/v1/rerank' : path,
        headers: expectedHeaders(engine.origin, arrives, { accept: 'application/json', ...more }),
        body: arrives,
      },
    ]);
    expect(JSON.stringify(received)).not.toContain(SECRET);
  });

  it('a caller cannot remove or replace our headers by naming them in Connection', async () => {
    const received: RecordedRequest[] = [];
    const { gateway, engine } = await setUp(recorder(received));
    const body = JSON.stringify({ ...hello, model: 'qwen' });
    await post(gateway.origin, CHAT, body, {
      connection: 'authorization, content-length, x-request-id, host',
    });
    expect(received[0]?.headers).toEqual(expectedHeaders(engine.origin, body));
  });
});

describe('H02 the key of an upstream', () => {
  const KEYS: Record<string, string> = { one: 'sk-one-0123456789', two: 'sk-two-0123456789' };

  /** Two upstreams with different keys, and a slot. */
  async function providers(play: RequestListener) {
    const received: Record<string, RecordedRequest[]> = { one: [], two: [], slot: [] };
    const origins: Record<string, string> = {};
    for (const name of ['one', 'two']) {
      const server = await listen((req, res) =>
        (name === 'two' ? play : recorder(received.one as RecordedRequest[]))(req, res),
      );
      closers.push(server.close);
      origins[name] = server.origin;
    }
    const upstreams: Upstreams = {
      ...NO_UPSTREAMS,
      list: () => ['one', 'two'].map((name) => upstreamConfigOf({ name, models: [`model-${name}`] })),
      refreshCold: async () => {},
      connect: (name) =>
        upstreamCall({
          origin: origins[name] as string,
          headers: { authorization: `Bearer ${KEYS[name]}` },
        }),
    };
    const set = await setUp(recorder(received.slot as RecordedRequest[]), { upstreams });
    return { ...set, received };
  }

  it('goes to its own origin only', async () => {
    const two: RecordedRequest[] = [];
    const { gateway, received } = await providers(recorder(two));
    for (const model of ['model-one', 'model-two', 'agent'])
      await post(gateway.origin, CHAT, { ...hello, model });
    expect(received.one?.[0]?.headers.authorization).toBe(`Bearer ${KEYS.one}`);
    expect(two[0]?.headers.authorization).toBe(`Bearer ${KEYS.two}`);
    expect(received.slot?.[0]?.headers.authorization).toBe('Bearer engine-key');
    expect(JSON.stringify([received.slot, two])).not.toContain(KEYS.one);
    expect(JSON.stringify([received.slot, received.one])).not.toContain(KEYS.two);
  });

  it.each([
    [
      'in an error that is passed unchanged',
      429,
      { error: { code: 'rate', message: `key ${KEYS.two} is over` } },
    ],
    ['in an error that is wrapped', 500, { detail: `bad ${KEYS.two}`, again: KEYS.two }],
    ['in an error about our credential', 401, { error: { code: 'x', message: `bad ${KEYS.two}` } }],
    ['in an error inside a 200', 200, { error: { code: 500, message: KEYS.two } }],
  ])('X03 %s never reaches the caller, nor the log', async (_, status, body) => {
    const { gateway } = await providers((_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'x-echo': KEYS.two });
      res.end(JSON.stringify(body));
    });
    const response = await post(gateway.origin, CHAT, { ...hello, model: 'model-two' });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.whole).toBe(true);
    expect(() => JSON.parse(response.body)).not.toThrow();
    expect(JSON.stringify([response, gateway.log, gateway.finished])).not.toContain(KEYS.two);
  });
});

describe('H03 hop-by-hop headers', () => {
  it('of an engine are removed, and so are headers that the gateway sets itself', async () => {
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        connection: 'close, x-hop, retry-after',
        'x-hop': 'x',
        'retry-after': '7',
        'keep-alive': 'timeout=999',
        'proxy-authenticate': 'Basic',
        trailer: 'x-late',
        upgrade: 'h2c',
        'set-cookie': 'svc_session=forged',
        'www-authenticate': 'Bearer realm="engine"',
        'access-control-allow-origin': '*',
        'x-svc-slot': 'forged',
        'x-request-id': 'forged',
        location: '/elsewhere',
        'openai-processing-ms': '5',
      });
      res.end('{"ok":true}');
    });
    const { headers } = await post(gateway.origin, CHAT, hello);
    expect(Object.keys(headers).sort()).toEqual(
      [
        'connection',
        'content-type',
        'date',
        'openai-processing-ms',
        'transfer-encoding',
        'x-request-id',
        'x-svc-model',
        'x-svc-overhead-ms',
        'x-svc-slot',
        'x-svc-step',
      ].sort(),
    );
    expect(headers).toMatchObject({ 'x-request-id': 'r1', 'x-svc-slot': 'agent', connection: 'close' });
  });

  it('content-length towards the engine is that of the rewritten body, for any framing of the caller', async () => {
    const received: RecordedRequest[] = [];
    const { gateway } = await setUp(recorder(received));
    const body = JSON.stringify({ ...hello, omni: true });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const req = request(`${gateway.origin}${CHAT}`, { method: 'POST', agent: false }, resolve);
      req.on('error', reject);
      for (const letter of body) req.write(letter);
      req.end();
    });
    expect((await readAll(response)).status).toBe(200);
    expect(received[0]?.headers).not.toHaveProperty('transfer-encoding');
    expect(received[0]?.body).toBe(JSON.stringify({ ...hello, model: 'qwen' }));
    expect(received[0]?.headers['content-length']).toBe(String(received[0]?.body.length));
  });

  it('204 of an engine passes without a body; 304 to a POST is 502', async () => {
    let status = 204;
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(status);
      res.end();
    });
    const none = await post(gateway.origin, CHAT, hello);
    expect(none).toMatchObject({ status: 204, body: '', whole: true });
    expect(none.headers).not.toHaveProperty('content-length');
    status = 304;
    expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 502 });
  });
});

describe('H08 the query', () => {
  it.each([
    ['?api_key=secret', ''],
    ['?a=1&api_key=secret&b=2', '?a=1&b=2'],
    ['?api_key=secret&api_key=secret&z=1&a=2', '?z=1&a=2'],
    ['?%61pi_key=secret&a=%2F', '?a=%2F'],
    ['?a=1&a=1&empty=&flag', '?a=1&a=1&empty=&flag'],
    ['?not_api_key=1&api_keys=2', '?not_api_key=1&api_keys=2'],
  ])('%s arrives as %j', async (query, expected) => {
    const received: RecordedRequest[] = [];
    const { gateway } = await setUp(recorder(received));
    await post(gateway.origin, `${CHAT}${query}`, hello);
    expect(received[0]?.url).toBe(`${CHAT}${expected}`);
  });
});

describe('H09 redirects of an engine', () => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308])('%d: 502 and no second request', async (status) => {
    let hits = 0;
    const canary = await listen((_req, res) => {
      hits += 1;
      res.end();
    });
    closers.push(canary.close);
    let requests = 0;
    const { gateway } = await setUp((_req, res) => {
      requests += 1;
      res.writeHead(status, { location: `${canary.origin}/steal` });
      res.end();
    });
    const response = await post(gateway.origin, CHAT, hello);
    expect(response.status).toBe(502);
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'upstream.error' } });
    expect(response.headers).not.toHaveProperty('location');
    expect(response.body).not.toContain('steal');
    expect([requests, hits]).toEqual([1, 0]);
  });
});
