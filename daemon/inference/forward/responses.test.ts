import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { post, readAll, send, until } from '../testing/client.ts';
import {
  CHAT,
  closeAfterEach,
  delta,
  hello,
  SSE,
  setUp,
  startWithManualEngine,
} from '../testing/forwarding.ts';
import { StreamingEngine } from '../testing/streaming-engine.ts';

closeAfterEach();

describe('the request to the engine', () => {
  test('has the key of the engine, our request id, identity encoding and the rewritten body, and nothing else of the caller', async () => {
    let engineRequest: { url?: string; headers: object; body: string } | undefined;
    const { gateway, slots } = await setUp(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      engineRequest = { url: req.url, headers: req.headers, body };
      res.setHeader('content-type', 'application/json');
      res.end('{}');
    });
    const answer = await post(
      gateway.origin,
      `${CHAT}?api_key=secret&a=%2F`,
      { ...hello, omni: true },
      {
        authorization: 'Bearer secret',
        cookie: 'svc_session=secret',
        origin: 'http://secret',
        'x-svc-priority': 'batch',
        connection: 'x-secret, close',
        'x-secret': 'secret',
      },
    );
    expect(answer.status).toBe(200);
    expect(JSON.stringify(engineRequest)).not.toContain('secret');
    expect(engineRequest).toMatchObject({
      url: `${CHAT}?a=%2F`,
      headers: { authorization: 'Bearer engine-key', 'accept-encoding': 'identity', 'x-request-id': 'r1' },
      body: '{"model":"qwen","messages":[{"role":"user","content":"hi"}]}',
    });
    expect(answer.headers).toMatchObject({
      'x-svc-slot': 'agent',
      'x-svc-step': 'loaded-slot',
      'x-svc-model': 'qwen',
      'x-svc-omni': 'unavailable',
    });
    expect(Number(answer.headers['x-svc-overhead-ms'])).toBeGreaterThanOrEqual(0);
    expect(slots.released).toBe(1);
  });

  test('rerankings are sent as native rerank', async () => {
    const urls: (string | undefined)[] = [];
    const { gateway, slots } = await setUp((req, res) => {
      urls.push(req.url);
      res.end('{}');
    });
    slots.records = [slotRecord({ name: 'rerank', type: 'rerank', model: 'bge' })];
    await post(gateway.origin, '/v1/rerankings', { query: 'q', documents: ['d'] });
    slots.dialect = { nativeRerank: false };
    await post(gateway.origin, '/v1/rerankings', { query: 'q', documents: ['d'] });
    expect(urls).toEqual(['/v1/rerank', '/v1/rerankings']);
  });

  test('the engine gets its model name, the caller the id; an engine without names gets the original', async () => {
    const bodies: string[] = [];
    const { gateway, slots } = await setUp((req, res) => {
      req.on('data', (chunk: Buffer) => bodies.push(chunk.toString('utf8')));
      res.setHeader('content-type', 'application/json');
      req.on('end', () => res.end('{}'));
    });
    slots.dialect = { model: 'native:1b' };
    const answer = await post(gateway.origin, CHAT, hello);
    slots.dialect = { model: null };
    await post(gateway.origin, CHAT, hello);
    expect(answer.headers['x-svc-model']).toBe('qwen');
    expect(bodies.map((body) => JSON.parse(body).model)).toEqual(['native:1b', 'agent']);
  });
});

describe('responses pass unchanged', () => {
  const odd = '{"id":"x", "n":1e400,"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}';
  test.each([
    ['with a length', (res: ServerResponse) => res.setHeader('content-length', odd.length).end(odd)],
    ['in one chunk', (res: ServerResponse) => res.end(odd)],
    [
      'byte by byte',
      (res: ServerResponse) => {
        for (const letter of odd) res.write(letter);
        res.end();
      },
    ],
  ])('JSON %s', async (_, respond) => {
    const { gateway, slots } = await setUp((_req, res) => {
      res.setHeader('content-type', 'application/json; charset=utf-8');
      res.setHeader('set-cookie', 'a=b');
      res.setHeader('access-control-allow-origin', '*');
      respond(res);
    });
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer.body).toBe(odd);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(gateway.log[0]).toMatchObject({
      status: 200,
      prompt_tokens: 3,
      completion_tokens: 4,
      error: null,
    });
    expect(slots.notes).toEqual([]);
    expect(gateway.finished[0]).toMatchObject({ completionTokens: 4, tokensPerSecond: null });
  });

  test('an event stream: head flushed before the first event, no cache, no buffering, speed recorded', async () => {
    const { gateway, responses, slots } = await startWithManualEngine();
    const { head } = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, SSE).flushHeaders();
    const res = await head;
    expect(res.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9}}\n\n';
    const rest = readAll(res);
    responses[0]?.write(delta('a'));
    await new Promise(setImmediate);
    responses[0]?.end(`${delta('b')}${usage}data: [DONE]\n\n`);
    expect((await rest).body).toBe(`${delta('a')}${delta('b')}${usage}data: [DONE]\n\n`);
    await until(() => gateway.log.length === 1);
    expect(gateway.finished[0]).toMatchObject({ slot: 'agent', completionTokens: 9 });
    expect(slots.notes).toHaveLength(1);
  });

  test('an engine error with a string code passes byte for byte', async () => {
    const body = '{"error": {"code":"invalid_value", "message":"too hot", "x":1e400}}';
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end(body);
    });
    expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 400, body });
  });
});

describe('a slow reader', () => {
  test('pauses the engine: the buffer stays bounded, and everything arrives', async () => {
    const total = 48 << 20;
    const engineStream = new StreamingEngine(total);
    const { gateway } = await setUp((_req, res) => engineStream.answer(res));
    const res = await send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    await until(engineStream.waits);
    expect(engineStream.sent).toBeLessThan(total / 2);
    let received = 0;
    for await (const chunk of res) received += (chunk as Buffer).length;
    expect(received).toBe(total);
  });

  test('that reads nothing is disconnected after the idle limit', async () => {
    const { gateway, engine } = await setUp(
      (_req, res) => {
        res.writeHead(200, SSE);
        const more = () => {
          while (res.write(Buffer.alloc(65_536)));
        };
        res.on('drain', more);
        res.on('error', () => {});
        more();
      },
      { settings: { idleTimeoutS: 1 } },
    );
    const request = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    request.req.on('error', () => {});
    const res = await request.head;
    res.on('error', () => {});
    await until(() => engine.sockets.size === 0, 5000);
    await until(() => gateway.log.length === 1);
    request.req.destroy();
  });
});
