import { createServer } from 'node:http';
import { connect, createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { releaseWhenWritten } from '../perf/buffer-release.ts';
import { makeCertificate } from '../testing/certificate.ts';
import { type ProxyOptions, startHttpProxy } from '../testing/http-proxy.ts';
import { listenOnLoopback, portOf } from '../testing/listening.ts';
import { scratchOfFile } from '../testing/scratch.ts';
import { type SocksProxyOptions, startSocksProxy } from '../testing/socks-proxy.ts';
import { Outbound, type OutboundRequest } from './outbound.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startProxy(options: ProxyOptions = {}) {
  const proxy = await startHttpProxy(options);
  closers.push(proxy.close);
  return proxy;
}

async function startTarget(): Promise<number> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => res.end(`${req.method} ${req.url} ${req.headers.host} ${body}`));
  });
  await listenOnLoopback(server);
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return portOf(server);
}

async function startSocks(options: SocksProxyOptions) {
  const proxy = await startSocksProxy(options);
  closers.push(proxy.close);
  return proxy;
}

const certificate = makeCertificate(scratchOfFile());
if (certificate === null) console.warn('proxies with TLS: skipped, because this machine has no openssl');

/** Starts an HTTP proxy behind TLS. */
async function startTlsProxy(options: ProxyOptions = {}) {
  const proxy = await startProxy(options);
  const { port } = new URL(proxy.address);
  const server: Server = createTls({ key: certificate?.key, cert: certificate?.cert }, (socket) => {
    const plain = connect(Number(port), '127.0.0.1');
    for (const end of [socket, plain]) end.on('error', () => end.destroy());
    socket.pipe(plain).pipe(socket);
  });
  server.on('connection', (socket) => closers.push(() => socket.destroy()));
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  closers.push(() => new Promise((done) => server.close(done)));
  return { address: `https://localhost:${portOf(server)}`, requests: proxy.requests };
}

function trustCertificate(): void {
  const usual = getCACertificates('default');
  closers.push(() => setDefaultCACertificates(usual));
  setDefaultCACertificates([...usual, String(certificate?.cert)]);
}

function outbound(proxy: string): Outbound {
  const client = new Outbound({ connectMs: () => 2_000, proxyFor: () => proxy });
  closers.push(() => client.close());
  return client;
}

const get = (origin: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  origin,
  path: '/a',
  method: 'GET',
  headers: [],
  body: null,
  idleMs: 5_000,
  ...more,
});

function send(out: Outbound, request: OutboundRequest): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let body = '';
    out.dispatch(request, {
      onRequestStart: () => {},
      onResponseStart: (_, code) => {
        status = code;
      },
      onResponseData: (_, chunk) => {
        body += chunk;
      },
      onResponseEnd: () => resolve({ status, body }),
      onResponseError: (_, error) => reject(error),
    });
  });
}

describe('a request through a proxy', () => {
  test('plain HTTP has the absolute form and the host of the server', async () => {
    const { address, requests } = await startProxy({ target: await startTarget() });
    const client = outbound(address);
    expect(await send(client, get('http://hub.example'))).toEqual({
      status: 200,
      body: 'GET /a hub.example ',
    });
    const body = Buffer.from('hello');
    const posted = await send(client, get('http://hub.example:81', { method: 'POST', body }));
    expect(posted.body).toBe('POST /a hub.example:81 hello');
    const parts = await send(client, get('http://hub.example', { method: 'POST', body: [body, body] }));
    expect(parts.body).toBe('POST /a hub.example hellohello');
    expect(requests).toEqual([
      'GET http://hub.example/a -',
      'POST http://hub.example:81/a -',
      'POST http://hub.example/a -',
    ]);
  });

  test('the password of the proxy goes to the proxy only', async () => {
    const { address, requests } = await startProxy({ target: await startTarget() });
    const login = `Basic ${Buffer.from('me:s p').toString('base64')}`;
    await send(outbound(address.replace('//', '//me:s%20p@')), get('http://hub.example'));
    expect(requests).toEqual([`GET http://hub.example/a ${login}`]);
  });

  test('TLS uses a tunnel', async () => {
    const { address, requests } = await startProxy({ target: await startTarget() });
    // The server speaks no TLS: what matters is that the handshake was attempted through the tunnel.
    await expect(send(outbound(address), get('https://hub.example'))).rejects.toThrow();
    expect(requests[0]).toBe('CONNECT hub.example:443 -');
  });

  test.each(['', 'me:s%20p@'])('SOCKS5 uses a tunnel for plain HTTP too, login %j', async (login) => {
    const { address, requests } = await startSocks({
      target: await startTarget(),
      ...(login === '' ? {} : { login: 'me:s p' }),
    });
    const client = outbound(address.replace('//', `//${login}`));
    expect(await send(client, get('http://hub.example'))).toEqual({
      status: 200,
      body: 'GET /a hub.example ',
    });
    const body = Buffer.from('hello');
    const posted = await send(client, get('http://other.example:81', { method: 'POST', body, fresh: true }));
    expect(posted.body).toBe('POST /a other.example:81 hello');
    // The server speaks no TLS: what matters is that the handshake was attempted through the tunnel.
    await expect(send(client, get('https://hub.example'))).rejects.toThrow();
    expect(requests).toEqual(['hub.example:80', 'other.example:81', 'hub.example:443']);
  });

  test.skipIf(certificate === null)('a proxy with TLS', async () => {
    trustCertificate();
    const { address, requests } = await startTlsProxy({ target: await startTarget() });
    const client = outbound(address.replace('//', '//me:secret@'));
    expect((await send(client, get('http://hub.example'))).body).toBe('GET /a hub.example ');
    await expect(send(client, get('https://hub.example'))).rejects.toThrow();
    const login = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(requests).toEqual([`GET http://hub.example/a ${login}`, `CONNECT hub.example:443 ${login}`]);
  });

  test.each(['http://169.254.169.254', 'http://[fe80::1]'])(
    '%s is refused before the proxy',
    async (origin) => {
      const { address, requests } = await startProxy();
      await expect(send(outbound(address), get(origin))).rejects.toMatchObject({
        code: 'ERR_UNREACHABLE_ADDRESS',
      });
      expect(requests).toEqual([]);
    },
  );

  test.each([
    'http://10.0.0.1',
    'http://192.168.1.1',
    'http://localhost',
    'http://[::1]',
    'http://127.0.0.1',
  ])('an address of a third party that is not public, %s, is refused before the proxy', async (origin) => {
    const { address, requests } = await startProxy();
    const sent = send(outbound(address), get(origin, { publicOnly: true }));
    await expect(sent).rejects.toMatchObject({ code: 'ERR_UNREACHABLE_ADDRESS' });
    expect(requests).toEqual([]);
  });
});

describe('an error of the proxy names the proxy', () => {
  test.each([
    ['http', 407, /requires a user name and a password/, 'ERR_PROXY_AUTH'],
    ['https', 407, /requires a user name and a password/, 'ERR_PROXY_AUTH'],
    ['https', 403, /refused the connection with status 403/, 'ERR_PROXY'],
    ['https', 502, /refused the connection with status 502/, 'ERR_PROXY'],
  ])('%s with status %i', async (scheme, status, reason, code) => {
    const { address } = await startProxy({ status });
    const sent = send(outbound(address.replace('//', '//me:secret@')), get(`${scheme}://hub.example`));
    await expect(sent).rejects.toMatchObject({ code, message: expect.stringMatching(reason) as unknown });
    await expect(sent).rejects.not.toThrow(/secret/);
  });

  test.each<[string, SocksProxyOptions, RegExp, string]>([
    ['no login', { login: 'me:other' }, /requires a user name and a password: socks5:/, 'ERR_PROXY_AUTH'],
    ['no route', { reply: 4 }, /could not connect to the server: host unreachable/, 'ERR_PROXY'],
    ['a rule', { reply: 2 }, /could not connect to the server: connection not allowed/, 'ERR_PROXY'],
  ])('SOCKS5, %s', async (_, options, reason, code) => {
    const { address } = await startSocks(options);
    for (const login of ['', 'me:secret@']) {
      const sent = send(outbound(address.replace('//', `//${login}`)), get('http://hub.example'));
      await expect(sent).rejects.toMatchObject({ code, isUnsent: true });
      await expect(sent).rejects.toThrow(reason);
      await expect(sent).rejects.not.toThrow(/secret/);
    }
  });

  test('SOCKS5, an HTTP proxy', async () => {
    const { address } = await startProxy();
    const sent = send(outbound(address.replace('http:', 'socks5:')), get('http://hub.example'));
    await expect(sent).rejects.toThrow(/does not answer as a SOCKS5 proxy/);
  });

  test.skipIf(certificate === null).each(['http', 'https'])(
    '%s, a certificate that is not trusted',
    async (scheme) => {
      const { address } = await startTlsProxy();
      const sent = send(outbound(address), get(`${scheme}://hub.example`));
      await expect(sent).rejects.toMatchObject({ code: 'ERR_PROXY', isUnsent: true });
      await expect(sent).rejects.toThrow(/The proxy localhost:\d+ has no trusted TLS certificate/);
    },
  );

  test.each(['http', 'https'])('%s, nothing listens', async (scheme) => {
    const server = createTcp();
    await listenOnLoopback(server);
    const address = `http://127.0.0.1:${portOf(server)}`;
    await new Promise((done) => server.close(done));
    const sent = send(outbound(address), get(`${scheme}://hub.example`));
    await expect(sent).rejects.toMatchObject({ code: 'ERR_PROXY', isUnsent: true });
    await expect(sent).rejects.toThrow(/The proxy 127\.0\.0\.1:\d+ refused the connection/);
  });

  test.each(['http', 'https'])('%s, it closes the connection', async (scheme) => {
    const server = createTcp((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.destroy());
    });
    await listenOnLoopback(server);
    closers.push(() => new Promise((done) => server.close(done)));
    const sent = send(outbound(`http://127.0.0.1:${portOf(server)}`), get(`${scheme}://hub.example`));
    await expect(sent).rejects.toMatchObject({ code: 'ERR_PROXY', isUnsent: false });
  });

  test('https, it does not answer CONNECT', async () => {
    const server = createTcp((socket) => {
      socket.on('error', () => {});
      socket.resume();
      closers.push(() => socket.destroy());
    });
    await listenOnLoopback(server);
    closers.push(() => new Promise((done) => server.close(done)));
    const client = new Outbound({
      connectMs: () => 100,
      proxyFor: () => `http://127.0.0.1:${portOf(server)}`,
    });
    closers.push(() => client.close());
    const sent = send(client, get('https://hub.example', { idleMs: 0 }));
    await expect(sent).rejects.toMatchObject({ code: 'ERR_PROXY', isUnsent: true });
    await expect(sent).rejects.toThrow(/did not respond in time/);
  });

  test('http, a silent server is not a silent proxy', async () => {
    const server = createServer(() => {});
    await listenOnLoopback(server);
    closers.push(() => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    });
    const client = outbound(`http://127.0.0.1:${portOf(server)}`);
    const sent = send(client, get('http://hub.example', { idleMs: 100 }));
    await expect(sent).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  });

  test('a response of the server is not an error of the proxy', async () => {
    const { address } = await startProxy({ status: 503 });
    expect(await send(outbound(address), get('http://hub.example'))).toMatchObject({ status: 503 });
  });
});

const fresh = { method: 'POST', fresh: true, body: Buffer.from('hi') } as const;

test('a request for a new connection gets one', async () => {
  const { address, reused } = await startProxy({ target: await startTarget() });
  const client = outbound(address);
  for (let at = 0; at < 50 && reused() === 0; at++) await send(client, get('http://hub.example'));
  const before = reused();
  expect(before).toBeGreaterThan(0);
  const answer = await send(client, get('http://hub.example', fresh));
  expect(answer.body).toBe('POST /a hub.example hi');
  expect(reused()).toBe(before);
});

test('a request for a new connection gets a new tunnel', async () => {
  const { address, requests } = await startProxy({ target: await startTarget() });
  // The server speaks no TLS: what matters is that the tunnel was requested.
  const sent = send(outbound(address), get('https://hub.example', fresh));
  await expect(sent).rejects.toThrow();
  expect(requests).toEqual(['CONNECT hub.example:443 -']);
});

test.each(['http', 'socks5'])(
  'a long body is not released while its bytes wait for the proxy, %s',
  async (scheme) => {
    const { promise: connected, resolve } = Promise.withResolvers<Socket>();
    const end = createTcp(resolve);
    await listenOnLoopback(end);
    closers.push(() => end.close());
    const target = portOf(end);
    const address = scheme === 'http' ? `http://127.0.0.1:${target}` : (await startSocks({ target })).address;
    const body = Buffer.alloc(24 * 2 ** 20, 'a');
    const sent = send(outbound(address), get('http://hub.example', { method: 'POST', body }));
    const socket = await connected;
    // The first bytes arrive: the client has written the body.
    await new Promise((done) => socket.once('readable', done));
    releaseWhenWritten(body);
    expect(body.length).toBe(24 * 2 ** 20);
    socket.destroy();
    await expect(sent).rejects.toThrow();
  },
);

test('an aborted request ends at the proxy', async () => {
  const { address } = await startProxy({ target: await startTarget() });
  const reason = new Error('no longer needed');
  const ended = new Promise((_, reject) => {
    outbound(address).dispatch(get('http://hub.example'), {
      onRequestStart: (controller) => controller.abort(reason),
      onResponseError: (_controller, error) => reject(error),
    });
  });
  await expect(ended).rejects.toBe(reason);
});

test('requests without a proxy connect directly', async () => {
  const port = await startTarget();
  const client = new Outbound({ connectMs: () => 2_000, proxyFor: () => null });
  closers.push(() => client.close());
  expect(await send(client, get(`http://127.0.0.1:${port}`))).toMatchObject({ status: 200 });
});
