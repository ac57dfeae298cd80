import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { newRequestId } from '../lib/request-id.ts';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { createClient, readAll, toUrl } from './client.ts';
import { CliError, EXIT } from './exit-codes.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server whose responses carry the request id header of a gateway, unless `of` says otherwise. */
async function serve(handler: RequestListener, of: 'gateway' | 'another' = 'gateway'): Promise<string> {
  const server = createServer((req, res) => {
    if (of === 'gateway') res.setHeader('x-request-id', newRequestId());
    handler(req, res);
  });
  servers.push(server);
  return `http://127.0.0.1:${await listenOnLoopback(server)}`;
}

const failure = (promise: Promise<unknown>): Promise<CliError> =>
  promise.then(
    () => {
      throw new Error('it was answered');
    },
    (error: unknown) => {
      expect(error).toBeInstanceOf(CliError);
      return error as CliError;
    },
  );

/** Returns a handler that responds with `status` and `body`. */
const answer = (status: number, body: unknown) =>
  serve((_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  });

describe('what is sent', () => {
  it('method and path of the route table, the key as Bearer, the body as JSON', async () => {
    const received: unknown[] = [];
    const url = await serve(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      const { authorization, 'content-type': type } = req.headers;
      received.push([req.method, req.url, authorization, type, body]);
      res.end('{"ok":true}');
    });
    expect(await createClient({ url: `${url}/`, key: 'k-123' }).call('auth.status')).toEqual({ ok: true });
    const behindPrefix = createClient({ url: `${url}/gateway`, key: null });
    await behindPrefix.call('auth.require', { require_auth: true });
    expect(received).toEqual([
      ['GET', '/api/auth/status', 'Bearer k-123', undefined, ''],
      ['PUT', '/gateway/api/auth/require', undefined, 'application/json', '{"require_auth":true}'],
    ]);
  });
});

describe('refusals', () => {
  const error = { code: 'x.y', message: 'No.' };
  it.each([
    [401, EXIT.refused],
    [403, EXIT.refused],
    [404, EXIT.failed],
    [429, EXIT.limited],
    [500, EXIT.failed],
  ])('%d ends with exit code %d, message and code', async (status, exitCode) => {
    const client = createClient({ url: await answer(status, { error }), key: null });
    expect(await failure(client.call('status'))).toMatchObject({
      exitCode,
      code: 'x.y',
      message: 'No.',
    });
  });

  it('shows how long to wait', async () => {
    const body = { error: { ...error, details: { retry_after_s: 7 } } };
    const client = createClient({ url: await answer(429, body), key: null });
    expect((await failure(client.call('auth.login', {}))).message).toBe('No. Try again in 7 s.');
  });

  it.each([
    [502, '<html>', 'the gateway answered with status 502'],
    [302, '', 'the gateway answered with status 302'],
    [200, '<html>', /not an svc-gateway: its response is not JSON/],
  ])('a response %d from another server', async (status, body, message) => {
    const client = createClient({ url: await answer(status, body), key: null });
    expect((await failure(client.call('status'))).message).toMatch(message);
  });
});

describe('another server that responds', () => {
  const another = (status: number, body: string) =>
    serve((_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1' });
      res.end(body);
    }, 'another');

  it.each([
    [200, '{}'],
    [200, '{"status":"ok"}'],
    [200, 'null'],
    [200, '<html>'],
    [302, ''],
    [401, '{"error":{"code":"no","message":"No."}}'],
    [404, '{"detail":"Not Found"}'],
    [502, '<html>'],
  ])('is recognised as not a gateway by %d %s', async (status, body) => {
    const url = await another(status, body);
    const client = createClient({ url, key: null });
    const message = `${url} is not an svc-gateway: it answered /api/status with status ${status}`;
    expect(await failure(client.call('status'))).toMatchObject({ exitCode: EXIT.unreachable, message });
    expect(await failure(client.open('logs', undefined))).toMatchObject({ exitCode: EXIT.unreachable });
  });

  it('a gateway behind a proxy that removes the id is recognised, and is probed without the key', async () => {
    const requests: unknown[] = [];
    const url = await serve((req, res) => {
      requests.push([req.url, req.headers.authorization]);
      const health = { status: 'ok', name: 'svc-gateway', version: '1.0.0' };
      res.end(JSON.stringify(req.url === '/api/health' ? health : { here: true }));
    }, 'another');
    expect(await createClient({ url, key: 'k' }).call('status')).toEqual({ here: true });
    expect(requests).toEqual([
      ['/api/status', 'Bearer k'],
      ['/api/health', undefined],
    ]);
  });
});

describe('a gateway that is not there', () => {
  it.each(['http://127.0.0.1:1', 'http://localhost:1'])('%s', async (url) => {
    const error = await failure(createClient({ url, key: null }).call('status'));
    expect(error.exitCode).toBe(EXIT.unreachable);
    expect(error.message).toMatch(new RegExp(`cannot reach ${url}: nothing listens there.*--url`));
  });

  it('a name that does not resolve', async () => {
    const error = await failure(createClient({ url: 'http://nowhere.invalid', key: null }).call('status'));
    expect(error).toMatchObject({ exitCode: EXIT.unreachable, message: /does not resolve/ });
  });

  it('silence, and a response that is interrupted', async () => {
    const silent = createClient({ url: await serve(() => {}), key: null });
    expect((await failure(silent.call('status', undefined, { timeoutMs: 50 }))).message).toMatch(
      /no answer within 0\.05 s/,
    );
    const cut = createClient({
      url: await serve((_req, res) => {
        res.write('{"a":', () => res.destroy());
      }),
      key: null,
    });
    expect(await failure(cut.call('status'))).toMatchObject({
      exitCode: EXIT.unreachable,
      message: 'the connection closed before the response ended',
    });
  });

  it('an endless response is aborted', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(1 << 20);
    }
    await expect(readAll(Readable.from(endless()))).rejects.toThrow('the response is too large');
  });

  it('a response that is interrupted before it is read is reported, not awaited', async () => {
    const closed = new Readable({ read() {} });
    closed.destroy();
    await once(closed, 'close');
    await expect(readAll(closed)).rejects.toThrow('the connection closed before the response ended');
  });
});

describe('toUrl', () => {
  it.each(['http://gateway:1', 'http://gateway:1/', 'http://gateway:1/v1', 'http://gateway:1/v1/'])(
    'of %s leaves out the path of OpenAI clients',
    (base) => expect(toUrl(base, '/api/status').href).toBe('http://gateway:1/api/status'),
  );

  it('keeps the path of a reverse proxy', () => {
    expect(toUrl('https://home/llm', '/api/status').href).toBe('https://home/llm/api/status');
  });

  it.each(['', 'localhost:8080', 'ftp://x', 'http://', 'nonsense'])('%j is not an address', (base) => {
    expect(() => toUrl(base, '/api')).toThrow(/is not a gateway address/);
  });
});
