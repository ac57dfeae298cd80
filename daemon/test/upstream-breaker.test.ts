/** The circuit breakers of upstreams over real ports, with scripted upstreams. */
import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { json, provider, type ReceivedRequest } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';

const front = new Front();
beforeAll(() => front.start());
afterAll(() => front.close());

const post = (model: string) => front.send('POST', CHAT, { body: chat(model) });
const modelOf = ({ body }: ReceivedRequest): string => (JSON.parse(body) as { model: string }).model;

it('one bad model of a good upstream leaves the others reachable', async () => {
  const fine = provider('bad', 'good');
  const desk = await front.startStandIn((request) =>
    request.method === 'POST' && modelOf(request) === 'bad' ? json(504, { detail: 'late' }) : fine(request),
  );
  await front.add('desk', `base_url = "${desk.url}"\n`);
  for (let count = 0; count < 5; count++) expect((await post('bad')).status).toBe(504);
  const refused = await post('bad');
  expect(refused).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
  expect(refused.text).toMatch(
    /Model bad of upstream desk failed 5 times in a row\. Last error: It answered with status 504\. Next attempt in [12] s\./,
  );
  expect((await post('good')).status).toBe(200);
});

it('each pause of a model and its end is one line of the log, and a refused call is none', async () => {
  let isFixed = false;
  const fine = provider('moody');
  const desk = await front.startStandIn((request) =>
    request.method === 'POST' && !isFixed ? json(504, { detail: 'late' }) : fine(request),
  );
  await front.add('moody', `base_url = "${desk.url}"\n`);
  const linesWith = (text: string) =>
    front.gateway
      .output()
      .split('\n')
      .filter((line) => line.includes(text));
  const ofModel = (text: string) => linesWith(text).filter((line) => line.includes('moody')).length;
  const refused: string[] = [];
  while (refused.length < 20) {
    const { status, text, headers } = await post('moody');
    expect([502, 504]).toContain(status);
    if (text.includes('times in a row')) refused.push(String(headers['x-request-id']));
  }
  isFixed = true;
  await until(async () => (await post('moody')).status === 200, 'the model to be tried again');
  await until(() => ofModel('are permitted again') > 0, 'the end of the pause in the log');
  expect([ofModel('are paused'), ofModel('are permitted again')]).toEqual([1, 1]);
  expect(new Set(refused).size).toBe(20);
  for (const id of refused) expect(linesWith(id)).toEqual([]);
});

const plainText: RequestListener = (_req, res) =>
  void res.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error');

it.each([
  ['json', json(500, { error: { message: 'no' } })],
  ['plain', plainText],
] as const)('complete errors of one request refuse no other request: %s', async (form, error) => {
  const model = `poisoned-${form}`;
  const fine = provider(model);
  const desk = await front.startStandIn((request) =>
    request.body.includes('poison pill') ? error : fine(request),
  );
  await front.add(model, `base_url = "${desk.url}"\n`);
  const poison = chat(model, { messages: [{ role: 'user', content: 'poison pill' }] });
  for (let count = 0; count < 8; count++)
    expect((await front.send('POST', CHAT, { body: poison })).status).toBe(500);
  expect((await post(model)).status).toBe(200);
});

it('an upstream that aborts 16 streams at once serves the next five calls', async () => {
  const open = new Set<ServerResponse>();
  const fine = provider('replica');
  const streaming: RequestListener = (_req, res) => {
    open.add(res);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n');
  };
  const desk = await front.startStandIn((request) =>
    request.body.includes('"stream":true') ? streaming : fine(request),
  );
  await front.add('replica', `base_url = "${desk.url}"\n`);
  const body = chat('replica', { stream: true });
  const streams = await Promise.all(
    Array.from({ length: 16 }, () => openStream(front.gateway, CHAT, body, { key: CLIENT_KEY })),
  );
  await expect.poll(() => open.size).toBe(16);
  for (const res of open) res.destroy();
  await Promise.all(streams.map(({ ended }) => ended));
  for (const stream of streams) expect(dataOf(stream.text())).not.toContain('[DONE]');
  for (let count = 0; count < 5; count++) expect((await post('replica')).status).toBe(200);
});

it('a dead upstream with an alternative fails over at once', async () => {
  const first = await front.startStandIn(provider('shared'));
  const second = await front.startStandIn(provider('shared'));
  await front.add('first', `base_url = "${first.url}"\npriority = 0\n`);
  await front.add('second', `base_url = "${second.url}"\npriority = 5\n`);
  await first.stop();
  const before = Date.now();
  for (let count = 0; count < 5; count++) {
    const response = await post('shared');
    expect([response.status, response.headers['x-svc-upstream']]).toEqual([200, 'second']);
  }
  expect(Date.now() - before).toBeLessThan(4_000);
});

describe('a busy upstream', () => {
  const busy = (status: number, headers: Record<string, string> = {}) =>
    json(status, { error: { message: 'full', type: 'server_error', code: 'overloaded' } }, headers);
  const isList = ({ method }: ReceivedRequest) => method === 'GET';

  it.each([
    [429, 'JSON'],
    [503, 'JSON'],
    [503, 'HTML'],
  ])('status %d with %s: the next one with the same model serves the request', async (status, form) => {
    const model = `busy-${status}-${form}`.toLowerCase();
    const fine = provider(model);
    const first = await front.startStandIn((request) => {
      if (isList(request)) return fine(request);
      if (form === 'JSON') return busy(status);
      return (_req, res) =>
        void res.writeHead(status, { 'content-type': 'text/html' }).end('<html>full</html>');
    });
    const second = await front.startStandIn(fine);
    await front.add(`${model}-1`, `base_url = "${first.url}"\npriority = 0\n`);
    await front.add(`${model}-2`, `base_url = "${second.url}"\npriority = 5\n`);
    for (const stream of [false, true]) {
      const response = await front.send('POST', CHAT, { body: chat(model, { stream }) });
      expect([response.status, response.headers['x-svc-upstream']]).toEqual([200, `${model}-2`]);
    }
    expect((await front.upstream(`${model}-1`)).health).toBe('busy');
    const posts = (server: typeof first) => server.requests.filter((request) => !isList(request)).length;
    expect([posts(first), posts(second)]).toEqual([1, 2]);
  });

  it('is tried again when the other one cannot be reached', async () => {
    let isBusy = true;
    const fine = provider('relief');
    const first = await front.startStandIn((request) =>
      isBusy && !isList(request) ? busy(503, { 'retry-after': '30' }) : fine(request),
    );
    const second = await front.startStandIn(fine);
    await front.add('relief-1', `base_url = "${first.url}"\npriority = 0\n`);
    await front.add('relief-2', `base_url = "${second.url}"\npriority = 5\n`);
    expect((await post('relief')).headers['x-svc-upstream']).toBe('relief-2');
    const explained = await front.send('POST', '/api/dispatch/explain', {
      body: { path: CHAT, model: 'relief' },
    });
    expect(explained.json()).toMatchObject({ upstream: 'relief-2', after: [{ upstream: 'relief-1' }] });
    isBusy = false;
    await second.stop();
    expect(await front.upstream('relief-1')).toMatchObject({ health: 'busy' });
    const response = await post('relief');
    expect([response.status, response.headers['x-svc-upstream']]).toEqual([200, 'relief-1']);
  });

  it('whose alternative is busy too: the caller gets the last answer unchanged', async () => {
    const fine = provider('full');
    const servers = await Promise.all(
      ['1', '2'].map((retry) =>
        front.startStandIn((request) =>
          isList(request) ? fine(request) : busy(503, { 'retry-after': retry }),
        ),
      ),
    );
    for (const [at, { url }] of servers.entries())
      await front.add(`full-${at}`, `base_url = "${url}"\npriority = ${at}\n`);
    const response = await post('full');
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
    expect(response.json()).toEqual({
      error: { message: 'full', type: 'server_error', code: 'overloaded' },
    });
  });

  it('any other failure after the request was received is not sent again', async () => {
    const fine = provider('once');
    const failures: RequestListener[] = [
      json(500, { error: { message: 'no' } }),
      json(502, { error: { message: 'no' } }),
      json(504, { error: { message: 'no' } }),
      (_req, res) => void res.destroy(),
      (_req, res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        res.write('{"choices"', () => setTimeout(() => res.destroy(), 10));
      },
    ];
    let at = 0;
    const first = await front.startStandIn((request) =>
      isList(request) ? fine(request) : (failures[at++] as RequestListener),
    );
    const second = await front.startStandIn(fine);
    await front.add('once-1', `base_url = "${first.url}"\npriority = 0\n`);
    await front.add('once-2', `base_url = "${second.url}"\npriority = 5\n`);
    for (const expected of [500, 502, 504, 502, null]) {
      // A test restores the rank of the upstream after each failure.
      await front.send('POST', '/api/upstreams/once-1/test');
      const status = await post('once').then(
        (response) => (response.text === '{"choices"' ? null : response.status),
        () => null,
      );
      expect([at, status === 200 ? null : status]).toEqual([at, expected]);
    }
    expect(second.requests.filter((request) => !isList(request))).toEqual([]);
  });
});
