import type { RequestListener } from 'node:http';
import { createServer as createTcp, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';
import { post } from '../testing/client.ts';
import { CHAT, closeAfterEach, closers, delta, hello, SSE, setUp } from '../testing/forwarding.ts';
import { listen } from '../testing/gateway.ts';

closeAfterEach();

const streamed = { ...hello, stream: true };

describe('an engine that misbehaves', () => {
  const failing = async (handler: RequestListener, body: object = hello, path = CHAT) => {
    const { gateway, slots } = await setUp(handler, { settings: { idleTimeoutS: 1 } });
    const answer = await post(gateway.origin, path, body);
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
      message: 'Slot agent: boom',
      type: 'server_error',
      param: null,
      details: { upstream_status: 500, upstream: 'boom' },
    });
    expect(answer.headers['x-svc-slot']).toBe('agent');
  });

  test('its retry hints reach the caller also with our error', async () => {
    const hints = { 'retry-after': '7', 'retry-after-ms': '6500', 'x-should-retry': 'true' };
    const { answer } = await failing((_req, res) => {
      res.writeHead(429, hints);
      res.end('{"error":{"code":429,"message":"busy"}}');
    });
    expect(answer.status).toBe(429);
    expect(error(answer)).toMatchObject({ code: 'upstream.error', message: 'busy' });
    expect(answer.headers).toMatchObject(hints);
  });

  test('an error above the limit is truncated', async () => {
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
    expect(error(answer)).toMatchObject({ code: 'upstream.error', message: 'Slot agent: out of slots' });
  });

  test.each([
    ['with a length', 'null'],
    ['with blanks', ' null\n'],
  ])('null inside a 200 %s is a failure', async (_, body) => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      res.end(body);
    });
    expect(answer.status).toBe(502);
    expect(error(answer)).toMatchObject({
      code: 'upstream.error',
      message: 'The engine of slot agent answered with nothing.',
    });
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
    }, streamed);
    expect(answer.body).toMatch(/"a"[\s\S]*data: \{"error":\{"code":"dispatch\.upstream_timeout"/);
    expect(answer.body).not.toContain('[DONE]');
  });

  test('a connection that breaks before the head is 502', async () => {
    const { answer, gateway } = await failing((req) => void req.socket.destroy());
    expect(answer.status).toBe(502);
    expect(error(answer).code).toBe('dispatch.upstream_unavailable');
    expect(gateway.log[0]).toMatchObject({ status: 502, error: 'dispatch.upstream_unavailable' });
  });

  test('a crash in the middle of a stream: a separate error event, a clean end, no [DONE]', async () => {
    const { answer, gateway } = await failing((_req, res) => {
      res.writeHead(200, SSE);
      res.write(`${delta('a')}data: {"choi`, () => res.destroy());
    }, streamed);
    expect(answer.whole).toBe(true);
    expect(answer.body).toContain(delta('a'));
    expect(answer.body).toMatch(/\n\ndata: \{"error":\{"code":"dispatch\.upstream_unavailable".*\}\}\n\n$/);
    expect(answer.body).not.toContain('[DONE]');
    expect(gateway.log[0]).toMatchObject({ status: 200, error: 'dispatch.upstream_unavailable' });
  });

  test.each([
    ['/v1/chat/completions', streamed],
    ['/v1/completions', { model: 'agent', prompt: 'hi', stream: true }],
  ])(
    'a stream of %s that ends cleanly without its end marker is reported as incomplete',
    async (path, body) => {
      const { answer, gateway } = await failing(
        (_req, res) => {
          res.writeHead(200, { ...SSE, connection: 'close' });
          res.end(`${delta('a')}data: {"choi`);
        },
        body,
        path,
      );
      expect(answer.body).toMatch(/"a"[\s\S]*\n\ndata: \{"error":\{"code":"upstream\.error".*\}\}\n\n$/);
      expect(answer.body).not.toContain('[DONE]');
      expect(gateway.log[0]).toMatchObject({ status: 200, error: 'upstream.error' });
    },
  );

  test('a stream without [DONE] is complete with a finish reason or an error', async () => {
    const finished = `${delta('a')}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`;
    const failed = `${delta('a')}data: {"error":{"message":"out of memory"}}\n\n`;
    for (const text of [finished, failed]) {
      const { answer } = await failing((_req, res) => {
        res.writeHead(200, { ...SSE, connection: 'close' });
        res.end(text);
      }, streamed);
      expect(answer.body).toBe(text);
    }
  });

  const finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`;
  const citationsEvent = `data: ${JSON.stringify({ choices: [], citations: ['x'.repeat(9_000)] })}\n\n`;
  test.each([
    ['in a separate chunk', [delta('a'), finish, citationsEvent]],
    [
      'split across two chunks',
      [delta('a') + finish.slice(0, 50), finish.slice(50), citationsEvent, ': over\n\n'],
    ],
    ['in a longer event', [delta('a'), `${finish.slice(0, -4)},"rest":"${'x'.repeat(9_000)}"}\n\n`]],
  ])('the text after a finish reason %s may be long', async (_, pieces) => {
    const { answer, gateway } = await failing(async (_req, res) => {
      res.writeHead(200, { ...SSE, connection: 'close' });
      for (const piece of pieces) {
        res.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      res.end();
    }, streamed);
    expect(answer.body).toBe(pieces.join(''));
    expect(gateway.log[0]).toMatchObject({ status: 200, error: null });
  });

  test('an error with the type of a stream passes unchanged', async () => {
    const body = '{"error":{"message":"bad tool","type":"invalid_request_error","code":null}}';
    const { answer } = await failing((_req, res) => {
      res.writeHead(400, SSE);
      res.end(body);
    });
    expect(answer).toMatchObject({ status: 400, body });
  });

  test('a crash in the middle of any other response closes the connection', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write(`{"data":[${'1,'.repeat(200)}`, () => res.destroy());
    });
    expect(answer).toMatchObject({ status: 200, whole: false });
  });

  test('a response shorter than announced closes the connection', async () => {
    const { answer } = await failing((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      res.write('short', () => res.destroy());
    });
    expect(answer.whole).toBe(false);
  });

  test.each(['garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'])(
    '%j is not HTTP: 502',
    async (bytes) => {
      const { answer } = await failing((req) => void req.socket.end(bytes));
      expect(answer.status).toBe(502);
    },
  );

  test('an engine without a listener is 502', async () => {
    const { gateway, slots } = await setUp(() => {});
    const closedEngine = await listen(() => {});
    await closedEngine.close();
    slots.engine = closedEngine.origin;
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
    await listenOnLoopback(tcp);
    closers.push(async () => {
      for (const socket of requests) socket.destroy();
      await new Promise((done) => tcp.close(done));
    });
    return { origin: `http://127.0.0.1:${portOf(tcp)}`, requests };
  }

  test('does not get the request again that it received', async () => {
    const { gateway, slots } = await setUp(() => {});
    const engine = await shortLived();
    slots.engine = engine.origin;
    const statuses: number[] = [];
    for (let round = 0; round < 6; round++) {
      statuses.push((await post(gateway.origin, CHAT, hello)).status);
      await new Promise(setImmediate);
    }
    expect(engine.requests).toHaveLength(6);
    expect(statuses).toEqual([200, 502, 200, 502, 200, 502]);
  });
});
