/**
 * docs/spec/contract.md#streaming towards remote servers: callers who disconnect, silence, endless pings,
 * many streams in parallel.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../contract/system.ts';
import { SETTINGS } from '../settings/catalogue.ts';
import { begin, jsonPayload, type Leaver, type Payload, recording } from './harness/disconnecting-client.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { json, type StandIn } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';

/** Five times what is promised, for a busy machine. */
const FREE_WITHIN = 5 * 250;
const SSE = { 'content-type': 'text/event-stream' };
const DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const DONE = 'data: [DONE]\n\n';

const front = new Front();
let far: StandIn;
/** Answers that the test plays. */
const got: ServerResponse[] = [];

beforeAll(async () => {
  await front.start();
  far = await front.server(({ url }) =>
    url.includes('/models') ? json(200, { data: [{ id: 'far' }] }) : (_req, res) => void got.push(res),
  );
  await front.add('far', `base_url = "${far.url}"\nidle_timeout_s = 1\n`);
});
afterAll(() => front.end());
beforeEach(() => void got.splice(0));

const put = async (values: object) => {
  const answer = await front.at('PUT', '/api/settings', { body: { values } });
  expect(answer.status, answer.text).toBe(200);
};
const health = async () => (await front.view('far')).health;
const running = async () =>
  (await front.at('GET', '/api/requests')).json<{ running: RequestRecord[] }>().running;
const next = async (): Promise<ServerResponse> => {
  await until(() => got.length > 0, 'the request to arrive');
  return got.pop() as ServerResponse;
};
const closing = (res: ServerResponse) => new Promise<void>((done) => res.once('close', () => done()));
const stream = () => openStream(front.gateway, CHAT, chat('far', { stream: true }), { key: CLIENT_KEY });
const lastOf = (text: string) => JSON.parse(dataOf(text).at(-1) ?? '{}');

const ROUTES: Record<string, Payload> = {
  [CHAT]: jsonPayload(chat('far')),
  '/v1/completions': jsonPayload({ model: 'far', prompt: 'x' }),
  '/v1/embeddings': jsonPayload({ model: 'far', input: 'x' }),
  '/v1/rerankings': jsonPayload({ model: 'far', query: 'x', documents: ['y'] }),
  '/v1/audio/speech': jsonPayload({ model: 'far', input: 'x', voice: 'alloy' }),
  '/v1/audio/transcriptions': recording('far', Buffer.from('RIFF')),
};

/** The caller leaves: the connection to the upstream is closed at once, and the upstream is well. */
async function expectClosed(caller: Leaver, res: ServerResponse): Promise<void> {
  const closed = closing(res);
  const since = performance.now();
  caller.leave();
  await closed;
  expect(performance.now() - since).toBeLessThan(FREE_WITHIN);
  await until(async () => (await running()).length === 0, 'nothing to run');
  expect(await health()).toBe('ok');
}

describe('a caller who leaves', () => {
  it.each(Object.entries(ROUTES))('%s: the connection to the upstream is closed', async (path, payload) => {
    const caller = begin(front.gateway, path, payload, CLIENT_KEY);
    const res = await next();
    await expectClosed(caller, res);
  });

  it.each([
    ['before the first byte', null],
    ['in the middle', DELTA],
    ['after the last event', `${DELTA}${DONE}`],
  ])('%s of a stream: the connection is closed', async (_, sent) => {
    const caller = begin(front.gateway, CHAT, jsonPayload(chat('far', { stream: true })), CLIENT_KEY);
    const res = await next();
    if (sent !== null) {
      res.writeHead(200, SSE).write(sent);
      await caller.head;
    }
    await expectClosed(caller, res);
  });
});

describe('S04 an upstream that says nothing', () => {
  it('may be silent for ten minutes by default: a long prompt takes its time', () => {
    expect(SETTINGS.idleTimeoutS.default).toBeGreaterThanOrEqual(600);
    expect(SETTINGS.totalTimeoutS.default).toBe(0);
  });

  it('for longer than its limit in a stream: an error event, the end, and the connection closed', async () => {
    const streamed = stream();
    const res = await next();
    const closed = closing(res);
    res.writeHead(200, SSE).write(DELTA);
    const { ended, text } = await streamed;
    expect(await ended).toBe(true);
    expect(lastOf(text())).toMatchObject({ error: { code: 'dispatch.upstream_timeout' } });
    expect(text()).not.toContain('[DONE]');
    await closed;
  });

  it('but pings is alive, until the limit of the whole answer ends that too', async () => {
    await put({ totalTimeoutS: 3 });
    const streamed = stream();
    const res = await next();
    const closed = closing(res);
    res.writeHead(200, SSE).write(DELTA);
    const pinging = setInterval(() => res.write(': ping\n\n'), 100);
    const since = performance.now();
    const { ended, text } = await streamed;
    expect(await ended).toBe(true);
    await closed;
    clearInterval(pinging);
    await put({ totalTimeoutS: 0 });
    // Three times as long as it may be silent.
    expect(performance.now() - since).toBeGreaterThan(2_000);
    expect(text().split(': ping\n\n').length).toBeGreaterThan(10);
    expect(lastOf(text())).toMatchObject({ error: { code: 'dispatch.upstream_timeout' } });
    expect(text()).not.toContain('[DONE]');
  });
});
