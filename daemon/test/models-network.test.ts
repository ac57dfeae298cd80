/** Downloads and upstreams through proxies, mirrors with their own storage, and unusable addresses of the hub. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type HttpProxy, startHttpProxy } from '../lib/testing/http-proxy.ts';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { startSocksProxy } from '../lib/testing/socks-proxy.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../models/testing/hub.ts';
import { ADMIN_KEY, type Gateway, KEYS_FILE, QUIET_FILE, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { forTest } from './harness/one-gateway.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const REPO = 'maker/Tiny-Chat-GGUF';
const FILE = 'tiny-Q8_0.gguf';
let hub: FakeHub;
let proxy: HttpProxy;

beforeAll(async () => {
  const weights = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 32 })));
  hub = await startHub({ [REPO]: { files: { [FILE]: weights }, licence: 'mit' } });
  proxy = await startHttpProxy({ target: hub.port });
});
afterAll(async () => {
  await proxy?.close();
  await hub?.close();
});

const start = (env: Record<string, string>, files: Record<string, string> = {}) =>
  forTest(startGateway({ env, files: { ...KEYS_FILE, ...QUIET_FILE, ...files } }));
const pull = (gateway: Gateway) => svcctl(['models', 'pull', REPO], { env: envFor(gateway) });
const DOWNLOADED = { code: 0, out: 'Downloaded tiny-Q8_0.\n' };

// Each variable, exception and scheme: lib/net/proxy-rules.test.ts; each error: lib/net/outbound-proxy.test.ts.
describe('a proxy', () => {
  test.each<[string, (address: string) => Record<string, string>]>([
    ['in lower case and without a scheme', (address) => ({ http_proxy: address.replace('http://', '') })],
    [
      'with a name and a password, and other exceptions',
      (address) => ({
        HTTP_PROXY: address.replace('//', '//me:secret@'),
        NO_PROXY: 'a.example,10.0.0.0/8',
      }),
    ],
  ])('%s is used for downloads', async (_, env) => {
    const before = proxy.requests.length;
    const gateway = await start({ HF_ENDPOINT: 'http://hub.example', ...env(proxy.address) });
    expect(await pull(gateway)).toMatchObject(DOWNLOADED);
    const used = proxy.requests.slice(before);
    expect(used.some((line) => line.startsWith(`GET http://hub.example/${REPO}/resolve/`))).toBe(true);
    expect(gateway.output()).not.toContain('secret');
  });

  test('of SOCKS5 with a name and a password is used for downloads', async () => {
    const socks = await startSocksProxy({ target: hub.port, login: 'me:50% secret' });
    onTestFinished(async () => void (await socks.close()));
    const gateway = await start({
      HF_ENDPOINT: 'http://hub.example',
      ALL_PROXY: socks.address.replace('//', '//me:50%25%20secret@'),
    });
    expect(await pull(gateway)).toMatchObject(DOWNLOADED);
    expect(new Set(socks.requests)).toEqual(new Set(['hub.example:80']));
    expect(gateway.output()).not.toContain('secret');
  });

  test('in api.env is used, and is used for upstreams', async () => {
    const server = createServer((req, res) => {
      req.resume();
      res.setHeader('content-type', 'application/json');
      if (req.method === 'GET') res.end('{"data":[{"id":"far"}]}');
      else res.end('{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}');
    });
    await listenOnLoopback(server);
    onTestFinished(() => close(server));
    const toServer = await startHttpProxy({ target: portOf(server) });
    onTestFinished(async () => void (await toServer.close()));
    const gateway = await start(
      {},
      {
        'config/api.env': `${KEYS_FILE['config/api.env']}HTTP_PROXY=${toServer.address}\n`,
        'config/upstreams/desk.toml': 'base_url = "http://desk.example/v1"\n',
      },
    );
    await expect
      .poll(async () => (await send(gateway, 'GET', '/v1/models', { key: ADMIN_KEY })).text)
      .toContain('far');
    expect(toServer.requests).toContain('GET http://desk.example/v1/models -');
    const body = { model: 'far', messages: [{ role: 'user', content: 'x' }] };
    expect(await send(gateway, 'POST', '/v1/chat/completions', { key: ADMIN_KEY, body })).toMatchObject({
      status: 200,
    });
    expect(toServer.requests).toContain('POST http://desk.example/v1/chat/completions -');
  });

  test.each<[string, number, Record<string, string>, RegExp]>([
    ['that needs a password', 407, {}, /The proxy 127\.0\.0\.1:\d+ requires a user name and a password/],
    [
      'that refuses the tunnel',
      403,
      { HF_ENDPOINT: 'https://hub.example' },
      /refused the connection with status 403/,
    ],
    ['that is left out', 407, { NO_PROXY: 'hub.example' }, /cannot be resolved/],
  ])('%s', async (_, status, env, reason) => {
    const refusing = await startHttpProxy({ status });
    onTestFinished(async () => void (await refusing.close()));
    const gateway = await start({
      HF_ENDPOINT: 'http://hub.example',
      HTTP_PROXY: refusing.address,
      HTTPS_PROXY: refusing.address,
      ...env,
    });
    const { code, err } = await pull(gateway);
    expect([code, err]).toEqual([1, expect.stringMatching(reason)]);
    const response = await send(gateway, 'POST', '/api/models/pull', {
      key: ADMIN_KEY,
      body: { model: REPO },
    });
    expect(response).toMatchObject({ status: 502, code: 'pull.hub_unreachable' });
    expect(response.json()).toMatchObject({ error: { advice: expect.stringContaining('HF_ENDPOINT') } });
  });

  test('does not lead to engines and servers of this machine', async () => {
    const before = proxy.requests.length;
    const gateway = await start({ HF_ENDPOINT: hub.url, ALL_PROXY: proxy.address });
    expect(await pull(gateway)).toMatchObject(DOWNLOADED);
    const body = { model: 'tiny-Q8_0', messages: [{ role: 'user', content: 'x' }], max_tokens: 4 };
    expect((await send(gateway, 'POST', '/v1/chat/completions', { key: ADMIN_KEY, body })).status).toBe(200);
    expect(proxy.requests.length).toBe(before);
  });

  test('that is no address is named in the log', async () => {
    const gateway = await start({ HF_ENDPOINT: hub.url, HTTPS_PROXY: 'ftp://me:secret@proxy.lan' });
    await gateway.waitFor('a proxy of the environment cannot be used');
    expect(gateway.output()).not.toContain('secret');
  });
});

// Each form of a host: models/hub/hop.test.ts.
describe('a mirror with its own storage', () => {
  const mirror = async (hosts: (port: number) => string[], host = '127.0.0.1') => {
    const storage = await startHub(hub.repos);
    onTestFinished(() => storage.close());
    const from = await startHub(hub.repos);
    onTestFinished(() => from.close());
    from.fault = { redirect: `http://${host}:${storage.port}/${REPO}/resolve/main/${FILE}` };
    const gateway = await start(
      { HF_ENDPOINT: from.url, HF_TOKEN: 'hf_goodtoken' },
      { 'config/config.toml': `[models]\nhub_storage_hosts = ${JSON.stringify(hosts(storage.port))}\n` },
    );
    return { gateway, storage };
  };

  test.each<[string, (port: number) => string[]]>([
    ['for every port', () => ['127.0.0.1']],
    ['with its port, among others', (port) => ['minio.lan:9000', `127.0.0.1:${port}`]],
  ])('is used when the settings name it %s, without the token', async (_, hosts) => {
    const { gateway, storage } = await mirror(hosts);
    expect(await pull(gateway)).toMatchObject(DOWNLOADED);
    expect(storage.requests.length).toBeGreaterThan(0);
    expect(storage.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  test.each<[string, (port: number) => string[]]>([
    ['is not named', () => []],
    ['has another port', (port) => [`127.0.0.1:${port === 9 ? 10 : 9}`]],
  ])('that %s is refused with the setting', async (_, hosts) => {
    const { gateway, storage } = await mirror(hosts);
    const { code, err } = await pull(gateway);
    expect([code, err]).toEqual([1, expect.stringContaining('models.hub_storage_hosts')]);
    expect(storage.requests).toEqual([]);
  });
});

describe('an address of the hub that cannot be used', () => {
  // All forms: settings/precedence.test.ts.
  test.each(['htps://hub.example', 'https://me:secret@hub.example'])(
    '%s stops downloads with the reason, and the token goes nowhere',
    async (address) => {
      const before = proxy.requests.length;
      // Every other hub would be reached through this proxy.
      const all = { HTTP_PROXY: proxy.address, HTTPS_PROXY: proxy.address };
      const gateway = await start({ HF_ENDPOINT: address, HF_TOKEN: 'hf_goodtoken', ...all });
      const { code, err } = await pull(gateway);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/The address of the hub cannot be used: .*HF_ENDPOINT/),
      ]);
      for (const path of ['/api/models/search?q=tiny', `/api/models/choices?repo=${REPO}`]) {
        const response = await send(gateway, 'GET', path, { key: ADMIN_KEY });
        expect(response).toMatchObject({ status: 502, code: 'pull.hub_unreachable' });
      }
      expect(proxy.requests.length).toBe(before);
    },
  );

  test('in config.toml too', async () => {
    const gateway = await start({}, { 'config/config.toml': '[models]\nhub_url = "hub.example"\n' });
    expect((await pull(gateway)).err).toContain('The address of the hub cannot be used');
  });
});

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
