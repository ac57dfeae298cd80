import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, post, readAll, until } from '../testing/client.ts';
import { type GatewayOptions, listen, openGateway, TestSlots } from '../testing/gateway.ts';
import { slotRecord } from '../testing/pictures.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const CHAT = '/v1/chat/completions';
const hello = { model: 'agent', messages: [{ role: 'user', content: 'hi' }] };

/** A gateway with one slot whose engine is `handler`. */
async function setUp(handler: RequestListener, more: Partial<GatewayOptions> = {}) {
  const engine = await listen(handler);
  closers.push(engine.close);
  const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]);
  slots.engine = engine.origin;
  const gateway = await openGateway({ slots, ...more });
  closers.push(gateway.close);
  return { engine, slots, gateway };
}

/** Starts a gateway, and hands out each engine response for the test to play with. */
async function held(more: Partial<GatewayOptions> = {}) {
  const got: ServerResponse[] = [];
  const set = await setUp((_req, res) => void got.push(res), more);
  return { ...set, got };
}

const SSE = { 'content-type': 'text/event-stream' };
const delta = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;

describe('what the engine gets', () => {
  test('its own key, our request id, identity encoding, the rewritten body; nothing else of the caller', async () => {
    let seen: { url?: string; headers: object; body: string } | undefined;
    const { gateway, slots } = await setUp(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      seen = { url: req.url, headers: req.headers, body };
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
    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(seen).toMatchObject({
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

  test('rerankings go out as native rerank', async () => {
    const urls: (string | undefined)[] = [];
    const { gateway, slots } = await setUp((req, res) => {
      urls.push(req.url);
      res.end('{}');
    });
    slots.records = [slotRecord({ name: 'rerank', type: 'rerank', model: 'bge' })];
    await post(gateway.origin, '/v1/rerankings', { query: 'q', documents: ['d'] });
    expect(urls).toEqual(['/v1/rerank']);
  });
});

describe('answers pass untouched', () => {
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
  ])('JSON %s', async (_, play) => {
    const { gateway } = await setUp((_req, res) => {
      res.setHeader('content-type', 'application/json; charset=utf-8');
      res.setHeader('set-cookie', 'a=b');
      res.setHeader('access-control-allow-origin', '*');
      play(res);
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
  });

  test('an event stream: head flushed before the first event, no cache, no buffering, speed noted', async () => {
    const { gateway, got, slots } = await held();
    const { head } = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => got.length === 1);
    got[0]?.writeHead(200, SSE).flushHeaders();
    const res = await head;
    expect(res.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9}}\n\n';
    const rest = readAll(res);
    got[0]?.write(delta('a'));
    await new Promise(setImmediate);
    got[0]?.end(`${delta('b')}${usage}data: [DONE]\n\n`);
    expect((await rest).body).toBe(`${delta('a')}${delta('b')}${usage}data: [DONE]\n\n`);
    await until(() => gateway.log.length === 1);
    expect(gateway.finished[0]).toMatchObject({ target: 'agent', completionTokens: 9 });
    expect(slots.notes).toHaveLength(1);
  });

  test('an engine error with a string code passes byte for byte', async () => {
    const body = '{"error": {"code":"context_length_exceeded", "message":"too long", "x":1e400}}';
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end(body);
    });
    expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 400, body });
  });
});

describe('an engine that misbehaves', () => {
  const failing = async (handler: RequestListener, body: object = hello) => {
    const { gateway, slots } = await setUp(handler, { settings: { idleTimeoutS: 1 } });
    const answer = await post(gateway.origin, CHAT, body);
    expect(slots.released).toBe(slots.leased);
    expect(gateway.inference.running()).toEqual([]);
    return { answer, gateway };
  };
  const error = ({ body }: { body: string }) =>
    (JSON.parse(body) as { error: Record<string, unknown> }).error;

  test('500 with text is wrapped', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(500);
      res.end('boom');
    });
    expect(answer.status).toBe(500);
    expect(error(answer)).toMatchObject({
      code: 'upstream.error',
      message: 'boom',
      type: 'server_error',
      param: null,
      details: { upstream_status: 500, upstream: 'boom' },
    });
    expect(answer.headers['x-svc-slot']).toBe('agent');
  });

  test('an error longer than is read is cut off', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(500);
      const more = () => {
        while (res.write('x'.repeat(65_536)));
      };
      res.on('drain', more);
      more();
    });
    expect(error(answer)).toMatchObject({ code: 'upstream.error', details: { upstream_status: 500 } });
  });

  test('an error object inside a 200', async () => {
    const { answer } = await failing((_req, res) => {
      res.setHeader('content-type', 'application/json');
      res.end('{"error":{"code":500,"message":"out of slots"}}');
    });
    expect(answer.status).toBe(502);
    expect(error(answer)).toMatchObject({ code: 'upstream.error', message: 'out of slots' });
  });

  test.each([301, 302, 303, 307, 308])('%d is not followed', async (status) => {
    let hits = 0;
    const canary = await listen((_req, res) => {
      hits++;
      res.end();
    });
    closers.push(canary.close);
    const { answer } = await failing((_req, res) => {
      res.writeHead(status, { location: `${canary.origin}/x` });
      res.end();
    });
    expect(answer.status).toBe(502);
    expect(error(answer).code).toBe('upstream.error');
    expect(answer.headers).not.toHaveProperty('location');
    expect(hits).toBe(0);
  });

  test.each([401, 403])('%d is about our credential', async (status) => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(status, { 'www-authenticate': 'Bearer' });
      res.end('{"error":{"code":"invalid_key"}}');
    });
    expect(answer.status).toBe(502);
    expect(error(answer).code).toBe('upstream.auth_failed');
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  });

  test('silence before the head is 504', async () => {
    const { answer } = await failing(() => {});
    expect(answer.status).toBe(504);
    expect(error(answer).code).toBe('dispatch.upstream_timeout');
  });

  test('silence in the middle of a stream is an error event and the end', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, SSE);
      res.write(delta('a'));
    });
    expect(answer.body).toMatch(/"a"[\s\S]*data: \{"error":\{"code":"dispatch\.upstream_timeout"/);
    expect(answer.body).not.toContain('[DONE]');
  });

  test('a connection that breaks before the head is 502', async () => {
    const { answer, gateway } = await failing((req) => void req.socket.destroy());
    expect(answer.status).toBe(502);
    expect(error(answer).code).toBe('dispatch.upstream_unavailable');
    expect(gateway.log[0]).toMatchObject({ status: 502, error: 'dispatch.upstream_unavailable' });
  });

  test('death in the middle of a stream: an error event of its own, a clean end, no [DONE]', async () => {
    const { answer, gateway } = await failing((_req, res) => {
      res.writeHead(200, SSE);
      res.write(`${delta('a')}data: {"choi`, () => res.destroy());
    });
    expect(answer.whole).toBe(true);
    expect(answer.body).toContain(delta('a'));
    expect(answer.body).toMatch(/\n\ndata: \{"error":\{"code":"dispatch\.upstream_unavailable".*\}\}\n\n$/);
    expect(answer.body).not.toContain('[DONE]');
    expect(gateway.log[0]).toMatchObject({ status: 200, error: 'dispatch.upstream_unavailable' });
  });

  test('death in the middle of anything else cuts the connection', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write(`{"data":[${'1,'.repeat(200)}`, () => res.destroy());
    });
    expect(answer).toMatchObject({ status: 200, whole: false });
  });

  test('an answer shorter than it says cuts the connection', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      res.write('short', () => res.destroy());
    });
    expect(answer.whole).toBe(false);
  });

  test.each(['garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'])(
    '%j is no HTTP: 502',
    async (bytes) => {
      const { answer } = await failing((req) => void req.socket.end(bytes));
      expect(answer.status).toBe(502);
    },
  );

  test('an engine that nobody listens for is 502', async () => {
    const { gateway, slots } = await setUp(() => {});
    const gone = await listen(() => {});
    await gone.close();
    slots.engine = gone.origin;
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer.status).toBe(502);
    expect(error(answer).code).toBe('dispatch.upstream_unavailable');
  });
});

describe('a reused connection that dies before an answer', () => {
  /** An engine that answers the first request of each connection and resets it at the second. */
  async function shortLived() {
    const requests: Socket[] = [];
    const tcp = createTcp((socket) => {
      let served = 0;
      socket.on('error', () => {});
      socket.on('data', () => {
        requests.push(socket);
        if (served++ === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        else socket.resetAndDestroy();
      });
    });
    await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
    closers.push(async () => {
      for (const socket of requests) socket.destroy();
      await new Promise((done) => tcp.close(done));
    });
    return { origin: `http://127.0.0.1:${(tcp.address() as AddressInfo).port}`, requests };
  }

  test('is tried once more on a fresh one', async () => {
    const { gateway, slots } = await setUp(() => {});
    const engine = await shortLived();
    slots.engine = engine.origin;
    for (let round = 0; round < 5; round++) {
      expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 200, body: 'ok' });
    }
    expect(engine.requests.length).toBeGreaterThan(5);
  });
});

describe('a caller that leaves', () => {
  const phases: [string, (res: ServerResponse) => void, object][] = [
    ['before the head', () => {}, { ...hello, stream: true }],
    ['before the head of a plain answer', () => {}, hello],
    ['after the head', (res) => res.writeHead(200, SSE).flushHeaders(), { ...hello, stream: true }],
    ['mid-stream', (res) => res.writeHead(200, SSE).write(delta('a')), { ...hello, stream: true }],
    [
      'mid-body',
      (res) => res.writeHead(200, { 'content-type': 'application/json' }).write(`[${'1,'.repeat(500)}`),
      hello,
    ],
  ];
  test.each(phases)('%s: the engine is cut within 250 ms', async (_, play, body) => {
    const { gateway, got, engine, slots } = await held();
    const { req } = ask(gateway.origin, CHAT, JSON.stringify(body));
    req.on('error', () => {});
    await until(() => got.length === 1);
    play(got[0] as ServerResponse);
    await until(() => gateway.inference.running().length === 1);
    await new Promise(setImmediate);
    req.destroy();
    const took = await until(() => engine.sockets.size === 0);
    expect(took).toBeLessThan(250);
    await until(() => slots.released === 1 && gateway.log.length === 1);
    expect(gateway.log[0]).toMatchObject({ status: 499, error: 'client_closed' });
    expect(gateway.inference.running()).toEqual([]);
  });

  test('while waiting for a slot: the wait is given up', async () => {
    let reason: unknown;
    const { gateway, slots } = await held();
    slots.before = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    const { req } = ask(gateway.origin, CHAT, JSON.stringify(hello));
    req.on('error', () => {});
    await until(() => slots.asked.length === 1);
    req.destroy();
    expect(await until(() => reason !== undefined)).toBeLessThan(250);
    await until(() => gateway.log.length === 1);
    expect(gateway.log[0]).toMatchObject({ status: 499 });
    expect(slots.leased).toBe(0);
  });

  test('sixteen of sixteen', async () => {
    const { gateway, got, engine, slots } = await held();
    const asked = Array.from({ length: 16 }, () =>
      ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })),
    );
    await until(() => got.length === 16);
    for (const res of got) res.writeHead(200, SSE).write(delta('a'));
    for (const { req, head } of asked) {
      await head;
      req.on('error', () => {});
      req.destroy();
    }
    expect(await until(() => engine.sockets.size === 0)).toBeLessThan(250);
    await until(() => slots.released === 16);
  });
});

describe('a slow reader', () => {
  test('pauses the engine: what waits stays bounded, and everything arrives in the end', async () => {
    const total = 48 << 20;
    let sent = 0;
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(200, SSE);
      const more = () => {
        while (sent < total) {
          sent += 65_536;
          if (!res.write(Buffer.alloc(65_536, 0x61))) return;
        }
        res.end();
      };
      res.on('drain', more);
      more();
    });
    const res = await ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    let before = -1;
    await until(() => {
      const still = sent === before;
      before = sent;
      return still && sent > 0;
    });
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    for await (const chunk of res) received += (chunk as Buffer).length;
    expect(received).toBe(total);
  });

  test('that takes nothing at all is cut after the idle limit', async () => {
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
    const asked = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    asked.req.on('error', () => {});
    const res = await asked.head;
    res.on('error', () => {});
    await until(() => engine.sockets.size === 0, 5000);
    await until(() => gateway.log.length === 1);
    asked.req.destroy();
  });
});

describe('the end by other hands', () => {
  test('cancel before the head is an envelope, in a stream an error event', async () => {
    const { gateway, got, engine } = await held();
    const first = ask(gateway.origin, CHAT, JSON.stringify(hello));
    await until(() => got.length === 1);
    expect(gateway.inference.cancel('r1')).toBe(true);
    const refused = await readAll(await first.head);
    expect(refused.status).toBe(503);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body).toContain('"request.cancelled"');
    await until(() => engine.sockets.size === 0);
    const second = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => got.length === 2);
    got[1]?.writeHead(200, SSE).write(delta('a'));
    const res = await second.head;
    gateway.inference.cancel('r2');
    expect((await readAll(res)).body).toMatch(/data: \{"error":\{"code":"request\.cancelled"/);
  });

  test('stop ends streams with slot.draining and refuses new calls', async () => {
    const { gateway, got } = await held();
    const { head } = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => got.length === 1);
    got[0]?.writeHead(200, SSE).write(delta('a'));
    const res = await head;
    await gateway.inference.stop();
    expect((await readAll(res)).body).toMatch(/data: \{"error":\{"code":"slot\.draining"/);
    const refused = await post(gateway.origin, CHAT, hello);
    expect(refused).toMatchObject({ status: 503 });
    expect(refused.headers['retry-after']).toBe('5');
  });

  test('the total limit, when one is set', async () => {
    const { gateway } = await held({ settings: { totalTimeoutS: 0.2 } });
    expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 504 });
  });
});
