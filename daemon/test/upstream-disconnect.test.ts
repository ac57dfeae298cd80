/**
 * docs/spec/contract.md#streaming towards remote servers: callers who disconnect, silence, endless pings,
 * many concurrent streams.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../contract/system.ts';
import { SETTINGS } from '../settings/catalogue.ts';
import {
  jsonPayload,
  type Payload,
  recording,
  type StartedRequest,
  startRequest,
} from './harness/disconnecting-client.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { json, type StandIn } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';

/** Five times the guaranteed time, for a busy machine. */
const MAX_FREE_MS = 5 * 250;
const SSE = { 'content-type': 'text/event-stream' };
const DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const DONE = 'data: [DONE]\n\n';

const front = new Front();
let far: StandIn;
/** Requests that the test answers. */
const pending: ServerResponse[] = [];

beforeAll(async () => {
  await front.start();
  far = await front.startStandIn(({ url }) =>
    url.includes('/models') ? json(200, { data: [{ id: 'far' }] }) : (_req, res) => void pending.push(res),
  );
  await front.add('far', `base_url = "${far.url}"\nidle_timeout_s = 1\n`);
});
afterAll(() => front.close());
beforeEach(() => void pending.splice(0));

const changeSettings = async (values: object) => {
  const response = await front.send('PUT', '/api/settings', { body: { values } });
  expect(response.status, response.text).toBe(200);
};
const health = async () => (await front.upstream('far')).health;
const running = async () =>
  (await front.send('GET', '/api/requests')).json<{ running: RequestRecord[] }>().running;
const nextRequest = async (): Promise<ServerResponse> => {
  await until(() => pending.length > 0, 'the request to arrive');
  return pending.pop() as ServerResponse;
};
const waitForClose = (res: ServerResponse) => new Promise<void>((done) => res.once('close', () => done()));
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

/** Disconnects. Expects that the connection to the upstream is closed at once and the upstream stays healthy. */
async function expectClosed(caller: StartedRequest, res: ServerResponse): Promise<void> {
  const closed = waitForClose(res);
  const since = performance.now();
  caller.disconnect();
  await closed;
  expect(performance.now() - since).toBeLessThan(MAX_FREE_MS);
  await until(async () => (await running()).length === 0, 'nothing to run');
  expect(await health()).toBe('ok');
}

describe('a client that disconnects', () => {
  it.each(Object.entries(ROUTES))('%s: the connection to the upstream is closed', async (path, payload) => {
    const caller = startRequest(front.gateway, path, payload, CLIENT_KEY);
    const res = await nextRequest();
    await expectClosed(caller, res);
  });

  it.each([
    ['before the first byte', null],
    ['in the middle', DELTA],
    ['after the last event', `${DELTA}${DONE}`],
  ])('%s of a stream: the connection is closed', async (_, firstBytes) => {
    const caller = startRequest(front.gateway, CHAT, jsonPayload(chat('far', { stream: true })), CLIENT_KEY);
    const res = await nextRequest();
    if (firstBytes !== null) {
      res.writeHead(200, SSE).write(firstBytes);
      await caller.response;
    }
    await expectClosed(caller, res);
  });
});

describe('S04 a silent upstream', () => {
  it('may be silent for ten minutes by default, for long prompts', () => {
    expect(SETTINGS.idleTimeoutS.default).toBeGreaterThanOrEqual(600);
    expect(SETTINGS.totalTimeoutS.default).toBe(0);
  });

  it('that exceeds its limit in a stream: an error event, the end, and the connection closed', async () => {
    const streamed = stream();
    const res = await nextRequest();
    const closed = waitForClose(res);
    res.writeHead(200, SSE).write(DELTA);
    const { ended, text } = await streamed;
    expect(await ended).toBe(true);
    expect(lastOf(text())).toMatchObject({ error: { code: 'dispatch.upstream_timeout' } });
    expect(text()).not.toContain('[DONE]');
    await closed;
  });

  it('that sends pings is alive until the total limit', async () => {
    await changeSettings({ totalTimeoutS: 3 });
    const streamed = stream();
    const res = await nextRequest();
    const closed = waitForClose(res);
    res.writeHead(200, SSE).write(DELTA);
    const timer = setInterval(() => res.write(': ping\n\n'), 100);
    const since = performance.now();
    const { ended, text } = await streamed;
    expect(await ended).toBe(true);
    await closed;
    clearInterval(timer);
    await changeSettings({ totalTimeoutS: 0 });
    // Three times the silence limit.
    expect(performance.now() - since).toBeGreaterThan(2_000);
    expect(text().split(': ping\n\n').length).toBeGreaterThan(10);
    expect(lastOf(text())).toMatchObject({ error: { code: 'dispatch.upstream_timeout' } });
    expect(text()).not.toContain('[DONE]');
  });
});
