/** Faulty upstreams over a real port: stand-ins for servers with every known fault. */
import { readFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTestView } from '../contract/upstreams.ts';
import { MAX_LINE_BYTES } from '../inference/forward/line-cap.ts';
import { send } from '../inference/testing/client.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { json, provider, type StandIn } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';

const front = new Front();
beforeAll(() => front.start());
afterAll(() => front.close());

/** Concurrent streams. */
const STREAMS = 4;

describe('bad upstreams', () => {
  let bad: StandIn;
  beforeAll(async () => {
    bad = await front.startStandIn(provider('odd'));
    await front.add('odd', `base_url = "${bad.url}"\nidle_timeout_s = 1\n`);
  });
  const reset = async () => {
    bad.respondWith(provider('odd'));
    await front.send('POST', '/api/upstreams/odd/test', { body: { model: 'odd' } });
  };
  /** Memory of the gateway's process, MiB. */
  const residentMiB = () => {
    const status = readFileSync(`/proc/${front.gateway.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };
  const post = (more: object = {}) => front.send('POST', CHAT, { body: chat('odd', more) });

  it.each([
    [
      'HTML',
      502,
      'upstream.error',
      (_: unknown, res: ServerResponse) => {
        res.writeHead(502, { 'content-type': 'text/html' });
        res.end('<html><h1>502 Bad Gateway</h1></html>');
      },
    ],
    ['silence', 504, 'dispatch.upstream_timeout', () => {}],
    [
      'a connection that is cut',
      502,
      'dispatch.upstream_unavailable',
      (_: unknown, res: ServerResponse) => void res.destroy(),
    ],
    [
      'a response that is not HTTP',
      502,
      'upstream.error',
      (_: unknown, res: ServerResponse) => void res.socket?.end('SSH-2.0-x\r\n\r\n'),
    ],
    [
      'a redirect',
      502,
      'upstream.error',
      (_: unknown, res: ServerResponse) => {
        res.writeHead(307, { location: `${front.gateway.url}/v1/chat/completions` });
        res.end();
      },
    ],
    [
      'a compressed error',
      500,
      'upstream.error',
      (_: unknown, res: ServerResponse) => {
        res.writeHead(500, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        res.end(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]));
      },
    ],
  ])('%s is %d %s', async (_, status, code, listener) => {
    await reset();
    bad.respondWith(() => listener as RequestListener);
    const response = await post();
    expect(response).toMatchObject({ status, code });
    expect(response.text).not.toMatch(/SSH-2|location|127\.0\.0\.1/);
    expect(response.json<{ error: { message: string } }>().error.message).toMatch(/^Upstream odd /);
    expect((await front.upstream('odd')).health).toBe('failing');
  });

  it('an interrupted stream ends with an error event and no [DONE]', async () => {
    await reset();
    bad.respondWith(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n', () =>
        setTimeout(() => res.destroy(), 20),
      );
    });
    const stream = await openStream(front.gateway, CHAT, chat('odd', { stream: true }), { key: CLIENT_KEY });
    await stream.ended;
    const events = dataOf(stream.text());
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({
      error: { code: 'dispatch.upstream_unavailable' },
    });
    expect(events).not.toContain('[DONE]');
  });

  it.each([
    ['less', 5, '{"cho'],
    ['more', 5000, null],
  ])(
    'a content-length of %s than the body fails this response, never the next one',
    async (_, length, text) => {
      await reset();
      bad.respondWith(() => (_req, res) => {
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
        res.socket?.end(`${head}{"choices":[]}`);
      });
      const outcome = await post().then(
        (response) => response.text,
        () => null,
      );
      expect(outcome).toBe(text);
      await reset();
      expect((await post()).status).toBe(200);
    },
  );

  it('S05 endless lines cost no memory, and count as failures of the upstream', async () => {
    const piece = Buffer.alloc(65_536, 0x61);
    const endless = await front.startStandIn(provider('endless'));
    await front.add('endless', `base_url = "${endless.url}"\n`);
    await front.send('POST', '/api/upstreams/endless/test');
    endless.respondWith(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        while (!res.destroyed && res.write(piece));
      };
      res.on('drain', more);
      more();
    });
    const before = residentMiB();
    let peak = before;
    const endOf = async () => {
      const body = JSON.stringify(chat('endless', { stream: true }));
      const headers = { authorization: `Bearer ${CLIENT_KEY}` };
      const res = await send(front.gateway.url, CHAT, body, headers).head;
      let end = '';
      for await (const chunk of res.setEncoding('latin1')) {
        end = (end + (chunk as string)).slice(-500);
        peak = Math.max(peak, residentMiB());
      }
      return end;
    };
    const ends = await Promise.all(Array.from({ length: STREAMS }, endOf));
    for (const end of ends) expect(end).toMatch(/a\n\ndata: \{"error":\{"code":"upstream\.error",.*\n\n$/);
    // Buffering the lines would take all of it; the limit allows for garbage.
    expect(peak - before).toBeLessThan((0.75 * STREAMS * MAX_LINE_BYTES) / 2 ** 20);
    expect(await front.upstream('endless')).toMatchObject({
      health: 'failing',
      reason: expect.stringContaining('line without an end'),
    });
  }, 60_000);

  it('a huge list is truncated, an endless one is rejected', async () => {
    bad.respondWith(({ url, ...rest }) =>
      url.includes('models')
        ? json(200, { data: Array.from({ length: 9000 }, (_, n) => ({ id: `m-${n}` })) })
        : provider()({ url, ...rest }),
    );
    expect((await front.send('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>()).toMatchObject({
      ok: true,
    });
    expect((await front.upstream('odd')).models).toBe(2000);
    bad.respondWith(() => (_req, res) => {
      const more = () => {
        if (res.destroyed) return;
        res.write(Buffer.alloc(1 << 20, 'x'));
        setImmediate(more);
      };
      more();
    });
    const endless = (await front.send('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>();
    expect(endless).toMatchObject({ ok: false, steps: [{ message: 'Its response is too large.' }] });
    expect((await front.upstream('odd')).models).toBe(2000);
    await reset();
  });

  it('repeated failures open the circuit breaker, and one successful test closes it', async () => {
    await reset();
    bad.respondWith(() => json(504, { detail: 'broken' }));
    for (let count = 0; count < 5; count++) expect((await post()).status).toBe(504);
    const before = bad.requests.length;
    expect(await post()).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    expect(bad.requests).toHaveLength(before);
    await reset();
    expect((await post()).status).toBe(200);
  });
});
