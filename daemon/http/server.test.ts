import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { createAuth } from '../auth/auth.ts';
import { memorySessions, memorySettings } from '../auth/testing.ts';
import { GatewayError } from '../contract/errors.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import type { Handlers } from '../routes/handler.ts';
import { createMatcher } from './matcher.ts';
import { startHttp } from './server.ts';

/** A gateway that serves only the routes of `handlers`. */
async function serving(handlers: Partial<Handlers>) {
  const { log, lines } = recordedLog();
  const auth = await createAuth({
    settings: memorySettings({}),
    store: { sessions: memorySessions(), audit: { add: () => {}, list: () => [] }, isContentLost: false },
    log,
    secretFile: join(scratch(), 'secret.bin'),
    listener: () => ({ bindHost: '127.0.0.1', port: 0, loopback: true }),
  });
  const deps = {
    auth,
    log,
    matcher: createMatcher(),
    handlers: handlers as Handlers,
    sockets: { 'v1.realtime': async () => {} },
    refused: () => {},
    secrets: () => [],
  };
  const http = await startHttp(deps, { host: '127.0.0.1', port: 0, maxConnections: 16 });
  return { http, lines, url: `http://127.0.0.1:${http.port}` };
}

test('a handler that writes after the end of its response is logged and has no other effect', async () => {
  const { http, lines, url } = await serving({
    health: (ctx) => {
      ctx.respond = false;
      ctx.res.end('whole');
      ctx.res.write('more');
    },
  });
  for (const _ of [1, 2]) expect(await (await fetch(`${url}/api/health`)).text()).toBe('whole');
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { err: { code: 'ERR_STREAM_WRITE_AFTER_END' } },
    { err: { code: 'ERR_STREAM_WRITE_AFTER_END' } },
  ]);
  await http.stop(100);
});

describe('an offer of another protocol is ignored, and its connection ends with the response', () => {
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAA' };
  const chunked = { 'transfer-encoding': 'chunked' };

  const handlers: Partial<Handlers> = {
    health: (ctx) => {
      ctx.body = 'ok';
    },
    'v1.chat': async ({ req, res }) => {
      let body = '';
      for await (const part of req) body += part;
      res.writeHead(200).end(body);
    },
  };

  it.each<[string, OutgoingHttpHeaders, number]>([
    ['h2c with a chunked body', { ...h2c, ...chunked }, 3],
    ['h2c with a length', { ...h2c, 'content-length': '2' }, 3],
    ['h2c in capitals', { connection: 'upgrade', upgrade: 'H2C', ...chunked }, 3],
    ['several protocols', { connection: 'Upgrade', upgrade: 'h2c, IRC/6.9', ...chunked }, 3],
    ['TLS', { connection: 'keep-alive, Upgrade', upgrade: 'TLS/1.0', ...chunked }, 3],
    ['none: the option of the connection is missing', { upgrade: 'h2c', ...chunked }, 1],
    ['none: no upgrade', { connection: 'keep-alive', ...chunked }, 1],
  ])('%s', async (_, headers, connections) => {
    const { http } = await serving(handlers);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const send = async (method: string, path: string, sent: OutgoingHttpHeaders, body?: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const call = request({ agent, port: http.port, method, path, headers: sent });
      call.on('error', reject).on('response', async (response) => {
        ports.add(call.socket?.localPort);
        resolve(`${response.statusCode} ${Buffer.concat(await response.toArray())}`);
      });
      call.end(body);
      return promise;
    };
    for (const _turn of [1, 2])
      expect(await send('POST', '/v1/chat/completions', headers, '{}')).toBe('200 {}');
    expect(await send('GET', '/api/health', {})).toBe('200 ok');
    expect(ports.size).toBe(connections);
    agent.destroy();
    await http.stop(100);
  });

  const [offer, body] = ['connection: upgrade\r\nupgrade: h2c\r\n', 'content-length: 2\r\n\r\n{}'];
  const post = 'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n';
  const get = 'GET /api/health HTTP/1.1\r\nhost: a\r\n';
  it.each<[string, string, number]>([
    ['after a GET', `${get}${offer}\r\n${get}\r\n`, 1],
    ['after a POST', `${post}${offer}${body}${get}\r\n`, 1],
    ['an offer that follows', `${get}\r\n${get}${offer}\r\n${get}\r\n`, 2],
    ['without an offer', `${get}\r\n${get}connection: close\r\n\r\n`, 2],
  ])('a caller that sends requests ahead is answered or disconnected: %s', async (_, text, answers) => {
    const { http } = await serving(handlers);
    const socket = connect(http.port, '127.0.0.1');
    socket.write(text);
    const raw = Buffer.concat(await socket.toArray()).toString();
    expect(raw.match(/HTTP\/1\.1 200 /g)).toHaveLength(answers);
    expect(raw.match(/^connection: close\r$/gim)).toHaveLength(1);
    await http.stop(100);
  });
});

describe('an inference route', () => {
  const PATH = '/v1/chat/completions';

  it('runs the same guards and handler in front of Koa and, with a query, in Koa', async () => {
    const states: unknown[] = [];
    const { http, url } = await serving({
      'v1.chat': async ({ res, state }) => {
        states.push({ route: state.route.id, tier: state.caller.tier, query: state.target.query });
        res.writeHead(200, { 'content-type': 'text/plain' }).end(state.id);
      },
    });
    for (const query of ['', '?a=b']) {
      const response = await fetch(`${url}${PATH}${query}`, { method: 'POST', body: '{}' });
      expect(await response.text()).toBe(response.headers.get('x-request-id'));
    }
    const same = { route: 'v1.chat', tier: 'anon' };
    expect(states).toEqual([
      { ...same, query: '' },
      { ...same, query: 'a=b' },
    ]);
    await http.stop(100);
  });

  it('has its errors written by Koa under the id of the request', async () => {
    const ids: string[] = [];
    const { http, lines, url } = await serving({
      'v1.chat': async ({ state }) => {
        ids.push(state.id);
        throw ids.length === 1
          ? new GatewayError('slot.queue_full', { retryAfterS: 3 })
          : new Error('a defect');
      },
    });
    const post = () => fetch(`${url}${PATH}`, { method: 'POST', body: '{}' });
    const [full, defect] = [await post(), await post()];
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '3']);
    expect([defect.status, await defect.json()]).toMatchObject([500, { error: { code: 'internal' } }]);
    expect([full, defect].map(({ headers }) => headers.get('x-request-id'))).toEqual(ids);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', request: ids[1] }));
    await http.stop(100);
  });

  it('is cut when it fails after its headers', async () => {
    const { http, url } = await serving({
      'v1.chat': async ({ res }) => {
        res.writeHead(200).write('part');
        throw new Error('a defect');
      },
    });
    const response = await fetch(`${url}${PATH}`, { method: 'POST', body: '{}' });
    await expect(response.text()).rejects.toThrow('terminated');
    await http.stop(100);
  });
});
