/** Upstreams that answer badly, over a real port: stand-ins for servers that are broken in every way we know. */
import { readFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTestView } from '../contract/upstreams.ts';
import { MAX_LINE_BYTES } from '../inference/forward/line-cap.ts';
import { ask as send } from '../inference/testing/client.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { json, provider, type StandIn } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';

const front = new Front();
beforeAll(() => front.start());
afterAll(() => front.end());

/** Streams at once. */
const STREAMS = 4;

describe('bad upstreams', () => {
  let bad: StandIn;
  beforeAll(async () => {
    bad = await front.server(provider('odd'));
    await front.add('odd', `base_url = "${bad.url}"\nidle_timeout_s = 1\n`);
  });
  const reset = async () => {
    bad.play(provider('odd'));
    await front.at('POST', '/api/upstreams/odd/test', { body: { model: 'odd' } });
  };
  /** Memory of the gateway's process, MiB. */
  const residentMiB = () => {
    const status = readFileSync(`/proc/${front.gateway.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };
  const post = (more: object = {}) => front.at('POST', CHAT, { body: chat('odd', more) });

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
      'no HTTP',
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
    bad.play(() => listener as RequestListener);
    const answer = await post();
    expect(answer).toMatchObject({ status, code });
    expect(answer.text).not.toMatch(/SSH-2|location|127\.0\.0\.1/);
    expect(answer.json<{ error: { message: string } }>().error.message).toMatch(/^The engine or upstream/);
    expect((await front.view('odd')).health).toBe('failing');
  });

  it('a stream that breaks off ends with an error event and no [DONE]', async () => {
    await reset();
    bad.play(() => (_req, res) => {
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
  ])('a length that says %s than comes costs this answer, never the next one', async (_, length, text) => {
    await reset();
    bad.play(() => (_req, res) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
      res.socket?.end(`${head}{"choices":[]}`);
    });
    const outcome = await post().then(
      (answer) => answer.text,
      () => null,
    );
    expect(outcome).toBe(text);
    await reset();
    expect((await post()).status).toBe(200);
  });

  it('S05 lines without an end cost no memory, and count against the upstream', async () => {
    const piece = Buffer.alloc(65_536, 0x61);
    const endless = await front.server(provider('endless'));
    await front.add('endless', `base_url = "${endless.url}"\n`);
    await front.at('POST', '/api/upstreams/endless/test');
    endless.play(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        while (!res.destroyed && res.write(piece));
      };
      res.on('drain', more);
      more();
    });
    const before = residentMiB();
    let most = before;
    const endOf = async () => {
      const body = JSON.stringify(chat('endless', { stream: true }));
      const headers = { authorization: `Bearer ${CLIENT_KEY}` };
      const res = await send(front.gateway.url, CHAT, body, headers).head;
      let end = '';
      for await (const chunk of res.setEncoding('latin1')) {
        end = (end + (chunk as string)).slice(-500);
        most = Math.max(most, residentMiB());
      }
      return end;
    };
    const ends = await Promise.all(Array.from({ length: STREAMS }, endOf));
    for (const end of ends) expect(end).toMatch(/a\n\ndata: \{"error":\{"code":"upstream\.error",.*\n\n$/);
    // Held, the lines would take all of it; a part of it is what waits for the next collection.
    expect(most - before).toBeLessThan((0.75 * STREAMS * MAX_LINE_BYTES) / 2 ** 20);
    expect(await front.view('endless')).toMatchObject({
      health: 'failing',
      reason: expect.stringContaining('line without an end'),
    });
  }, 60_000);

  it('a huge list is bounded, one without end is given up', async () => {
    bad.play(({ url, ...rest }) =>
      url.includes('models')
        ? json(200, { data: Array.from({ length: 9000 }, (_, n) => ({ id: `m-${n}` })) })
        : provider()({ url, ...rest }),
    );
    expect((await front.at('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>()).toMatchObject({
      ok: true,
    });
    expect((await front.view('odd')).models).toBe(2000);
    bad.play(() => (_req, res) => {
      const more = () => {
        if (res.destroyed) return;
        res.write(Buffer.alloc(1 << 20, 'x'));
        setImmediate(more);
      };
      more();
    });
    const endless = (await front.at('POST', '/api/upstreams/odd/test')).json<UpstreamTestView>();
    expect(endless).toMatchObject({ ok: false, steps: [{ message: 'Its response is too large.' }] });
    expect((await front.view('odd')).models).toBe(2000);
    await reset();
  });

  it('fails often, is left alone, and comes back by one trial', async () => {
    await reset();
    bad.play(() => json(500, { detail: 'broken' }));
    for (let count = 0; count < 5; count++) expect((await post()).status).toBe(500);
    const before = bad.heard.length;
    expect(await post()).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    expect(bad.heard).toHaveLength(before);
    await reset();
    expect((await post()).status).toBe(200);
  });
});
