/**
 * The gateway behind a real nginx and a real Caddy with the shipped example configurations: TLS, HTTP/2, streams, WebSocket,
 * client addresses and uploads.
 */
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { SystemHealthView } from '../../../daemon/contract/system.ts';
import { CHAT, chat, Front } from '../../../daemon/test/harness/front-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from '../../../daemon/test/harness/gateway.ts';
import type { SendOptions } from '../../../daemon/test/harness/http.ts';
import { type RealProxy, startCaddy, startNginx } from '../../../daemon/test/harness/proxies.ts';
import { json } from '../../../daemon/test/harness/stand-in.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import {
  connectHttp2,
  openTlsRequest,
  readResponse,
  sendOverTls,
} from '../../../daemon/test/harness/tls-request.ts';

const MAX = 4;
const MIB = 1 << 20;
const front = new Front();
/** STAND-IN for an engine: the test controls each token. */
const engine: { answer: ServerResponse; left: boolean }[] = [];

/** Writes config.toml, which the gateway reloads by itself. */
const configure = (text: string) => writeFileSync(join(front.home, 'config', 'config.toml'), text);
const TRUST = '[security]\ntrust_forwarded_for = true\n';

beforeAll(async () => {
  const provider = await front.startStandIn(({ url, body }) => {
    if (url.endsWith('/transcriptions')) return json(200, { text: `${body.length} bytes` });
    if (url.endsWith('/models'))
      return json(200, { object: 'list', data: [{ id: 'slow', object: 'model' }] });
    return (_req, answer) => {
      const one = { answer, left: false };
      answer.on('close', () => {
        one.left = !answer.writableEnded;
      });
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      engine.push(one);
    };
  });
  await front.start(
    { SVC_LOGIN_RATELIMIT_MAX: String(MAX) },
    { 'config/config.toml': '[security]\ntrust_forwarded_for = false\n' },
  );
  await front.add('far', `base_url = "${provider.url}/v1"\nkey_env = "UPSTREAM_CLOUD"\n`);
});
afterAll(() => front.close());

const token = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'slow', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const proxyCheck = async () =>
  JSON.parse((await front.send('GET', '/api/health/system')).text) as SystemHealthView;

const KINDS = [
  ['nginx', part('nginx'), startNginx, '127.0.11'],
  ['Caddy', part('caddy'), startCaddy, '127.0.12'],
] as const;

describe.each(KINDS)('behind %s', (name, binary, start, net) => {
  let proxy: RealProxy;
  const origin = () => ({ origin: `https://localhost:${proxy.port}` });
  const enter = (from: string, key = ADMIN_KEY, options: SendOptions = {}) =>
    sendOverTls(proxy, 'POST', '/api/auth/login', { from: `${net}.${from}`, body: { key }, ...options });

  describe.skipIf(binary === null)('with its example', () => {
    beforeAll(async () => {
      proxy = await start(binary ?? '', front.gateway.port);
    });
    afterAll(() => proxy?.stop());

    it('D10 warns that its callers share one address until it is trusted', async () => {
      configure('[security]\ntrust_forwarded_for = false\n');
      await until(async () => {
        for (const from of ['1', '2'])
          await sendOverTls(proxy, 'GET', '/api/health', { from: `${net}.${from}` });
        return (await proxyCheck()).checks.proxy?.status === 'warning';
      }, 'the warning');
      const { warnings } = (await front.send('GET', '/api/status')).json<{
        warnings: { id: string; message: string }[];
      }>();
      const warning = warnings.find(({ id }) => id === 'proxy');
      expect(warning?.message).toContain('SVC_TRUST_FORWARDED_FOR');
      expect(JSON.stringify(await proxyCheck())).not.toContain(net);
      configure(TRUST);
      await until(async () => (await proxyCheck()).checks.proxy === undefined, 'the end of the warning');
    });

    it('K13 D5 a login over TLS sets a Secure cookie, with Origin and without, and it opens admin routes', async () => {
      for (const headers of [origin(), {}]) {
        const answer = await enter('10', ADMIN_KEY, { headers });
        expect(answer.status).toBe(200);
        const set = String(answer.headers['set-cookie']);
        expect(set).toMatch(/^svc_session=[^;]+;/);
        for (const word of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/', 'Max-Age=28800'])
          expect(set).toContain(word);
        expect(set).not.toContain('Domain');
        const cookie = set.split(';')[0];
        expect((await sendOverTls(proxy, 'GET', '/api/settings', { cookie })).status).toBe(200);
      }
      const audit = await front.send('GET', '/api/audit');
      expect(audit.text).toContain(`${net}.10`);
    });

    it('each token arrives before the next one is sent', async () => {
      engine.length = 0;
      const exchange = openTlsRequest(proxy, 'POST', CHAT, {
        key: CLIENT_KEY,
        headers: { 'content-type': 'application/json' },
      });
      let text = '';
      const ended = new Promise<boolean>((resolve, reject) => {
        exchange.on('error', reject);
        exchange.on('response', (res) => {
          res.on('data', (chunk: Buffer) => {
            text += chunk.toString('utf8');
          });
          res.on('close', () => resolve(res.complete));
        });
      });
      exchange.end(JSON.stringify(chat('slow', { stream: true })));
      await until(() => engine.length === 1, 'the engine to be asked');
      for (const word of ['first', 'second', 'third']) {
        expect(text).not.toContain(word);
        engine[0]?.answer.write(token(word));
        await until(() => text.includes(word), `the token ${word}`);
      }
      engine[0]?.answer.end('data: [DONE]\n\n');
      expect(await ended).toBe(true);
      expect(text).toContain('[DONE]');
    });

    it('HTTP/2, like a browser: a login with its Origin, token by token, URLs with https', async () => {
      engine.length = 0;
      const session = connectHttp2(proxy);
      const send = (path: string, headers: object, body?: object) => {
        const method = body === undefined ? 'GET' : 'POST';
        const stream = session.request({
          ':method': method,
          ':path': path,
          'content-type': 'application/json',
          ...headers,
        });
        const answer = { status: 0, text: '', ended: false };
        stream.setEncoding('utf8');
        stream.on('response', (head) => {
          answer.status = Number(head[':status']);
        });
        stream.on('data', (chunk: string) => {
          answer.text += chunk;
        });
        stream.on('end', () => {
          answer.ended = true;
        });
        stream.end(body === undefined ? undefined : JSON.stringify(body));
        return answer;
      };
      const entered = send('/api/auth/login', origin(), { key: ADMIN_KEY });
      await until(() => entered.ended, 'the login');
      expect(entered).toMatchObject({ status: 200 });
      const urls = send('/api/config/urls', {});
      await until(() => urls.ended, 'the addresses');
      expect(JSON.parse(urls.text)).toMatchObject({ api: `https://localhost:${proxy.port}/v1` });
      const streamed = send(CHAT, { authorization: `Bearer ${CLIENT_KEY}` }, chat('slow', { stream: true }));
      await until(() => engine.length === 1, 'the engine to be asked');
      for (const word of ['first', 'second']) {
        expect(streamed.text).not.toContain(word);
        engine[0]?.answer.write(token(word));
        await until(() => streamed.text.includes(word), `the token ${word}`);
      }
      engine[0]?.answer.end('data: [DONE]\n\n');
      await until(() => streamed.ended, 'the end');
      session.close();
    });

    it('a client disconnect ends the work of the engine', async () => {
      engine.length = 0;
      const exchange = openTlsRequest(proxy, 'POST', CHAT, {
        key: CLIENT_KEY,
        headers: { 'content-type': 'application/json' },
      });
      exchange.on('error', () => {});
      exchange.on('response', (res) => res.on('error', () => {}));
      exchange.end(JSON.stringify(chat('slow', { stream: true })));
      await until(() => engine.length === 1, 'the engine to be asked');
      engine[0]?.answer.write(token('first'));
      exchange.destroy();
      await until(() => engine[0]?.left === true, 'the engine to be left');
    });

    it('live voice: the handshake, and events in both directions', async () => {
      const socket = new WebSocket(`wss://localhost:${proxy.port}/v1/realtime?model=slow`, {
        ca: proxy.ca,
        headers: { authorization: `Bearer ${CLIENT_KEY}`, ...origin() },
      });
      const events: { type: string; error?: { event_id?: string } }[] = [];
      socket.on('message', (data) => void events.push(JSON.parse(data.toString())));
      const refused = new Promise<never>((_, reject) => socket.on('error', reject));
      const opened = new Promise<void>((done) => socket.on('open', () => done()));
      await Promise.race([opened, refused]);
      await until(() => events.length > 0, 'the first event');
      expect(events[0]?.type).toBe('session.created');
      socket.send(JSON.stringify({ type: 'no.such.event', event_id: 'mine' }));
      await until(() => events.some(({ error }) => error?.event_id === 'mine'), 'the answer to an event');
      socket.close();
    });

    it('L07 L08 the limiter counts each caller, whatever X-Forwarded-For contains', async () => {
      const spoof = (n: number) => ({
        headers: { 'x-forwarded-for': `198.51.100.${n}`, forwarded: `for=198.51.100.${n}` },
      });
      const statuses: number[] = [];
      for (let n = 0; n < MAX + 2; n++) statuses.push((await enter('20', 'wrong', spoof(n))).status);
      expect(statuses).toEqual([...Array(MAX).fill(401), 429, 429]);
      expect((await enter('21', ADMIN_KEY, { headers: { 'x-forwarded-for': `${net}.20` } })).status).toBe(
        200,
      );
      expect(await enter('20')).toMatchObject({ status: 429, code: 'auth.rate_limited' });
    });

    const FORM =
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nabsent\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
    const TAIL = '\r\n--b--\r\n';
    const upload = (bytes: number, key?: string) =>
      openTlsRequest(proxy, 'POST', '/v1/audio/transcriptions', {
        key,
        headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(bytes) },
      });

    it('an upload is forwarded while it is received: an error does not wait for its end', async () => {
      const exchange = upload(200 * MIB);
      const answer = readResponse(exchange);
      exchange.write(FORM);
      exchange.write(Buffer.alloc(MIB / 16));
      expect(await answer).toMatchObject({ status: 401, code: 'auth.required' });
      exchange.destroy();
    });

    /**
     * Writes the declared number of bytes until a response arrives. Pauses after `first` bytes to wait for one: a proxy that has
     * responded resets connections that continue to send, and the reset may discard the response.
     */
    async function send(
      exchange: ReturnType<typeof upload>,
      form: string,
      bytes: number,
      answer: Promise<unknown>,
      first = 0,
    ) {
      let answered = false;
      const end = answer.then(() => {
        answered = true;
      });
      exchange.write(form);
      let left = bytes - form.length - TAIL.length;
      if (first > 0) {
        exchange.write(Buffer.alloc(first));
        left -= first;
        await Promise.race([end, sleep(15_000)]);
      }
      const chunk = Buffer.alloc(MIB);
      for (; left > 0 && !answered; left -= chunk.length) {
        if (exchange.write(left >= MIB ? chunk : chunk.subarray(0, left))) continue;
        await Promise.race([new Promise((done) => exchange.once('drain', done)), end]);
      }
      if (answered) exchange.destroy();
      else exchange.end(TAIL);
    }

    it('200 MiB pass, and larger uploads get the error of the gateway', async () => {
      const exchange = upload(200 * MIB, CLIENT_KEY);
      const answer = readResponse(exchange);
      await send(exchange, FORM.replace('absent', 'slow'), 200 * MIB, answer);
      expect(await answer).toMatchObject({
        status: 200,
        text: JSON.stringify({ text: `${200 * MIB} bytes` }),
      });
      const larger = upload(200 * MIB + 1, CLIENT_KEY);
      const refusal = readResponse(larger);
      larger.write(FORM);
      expect(await refusal).toMatchObject({ status: 413, code: 'request.too_large' });
      larger.destroy();
    });

    it('an unknown model is reported during the upload', async () => {
      const exchange = upload(200 * MIB, CLIENT_KEY);
      const answer = readResponse(exchange);
      // The gateway decides after half a MiB if that arrives quickly.
      await send(exchange, FORM, 200 * MIB, answer, 5 * (MIB / 8));
      expect(await answer).toMatchObject({ status: 404, code: 'dispatch.no_route' });
    });

    it('a key in the URL is not in its log', async () => {
      expect((await sendOverTls(proxy, 'GET', `/api/status?api_key=${CLIENT_KEY}`)).status).toBe(200);
      // It writes the line after the response.
      if (name === 'nginx') await until(() => proxy.accessLog().includes('GET /api/status'), 'the line');
      expect(proxy.accessLog()).not.toContain(CLIENT_KEY);
    });
  });
});

describe.skipIf(KINDS[0][1] === null)('O16 a proxy that rewrites Host', () => {
  let proxy: RealProxy;
  beforeAll(async () => {
    const changed = {
      'proxy_set_header Host              $http_host;': 'proxy_set_header Host 127.0.0.1:8080;',
    };
    proxy = await startNginx(KINDS[0][1] ?? '', front.gateway.port, changed);
  });
  afterAll(() => proxy?.stop());

  it('the error names the setting, and requests work once the origin is listed', async () => {
    const headers = { origin: `https://localhost:${proxy.port}` };
    const enter = () =>
      sendOverTls(proxy, 'POST', '/api/auth/login', {
        from: '127.0.13.1',
        body: { key: ADMIN_KEY },
        headers,
      });
    const refused = await enter();
    expect(refused).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    expect(refused.text).toContain('SVC_ALLOWED_ORIGINS');
    configure(`${TRUST}allowed_origins = ["${headers.origin}"]\n`);
    await until(async () => (await enter()).status === 200, 'the origin to be listed', 5_000);
  });
});
