/** The circuit breakers of upstreams over real ports, with scripted upstreams. */
import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
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

it('complete errors of one request refuse no other request', async () => {
  const fine = provider('poisoned');
  const desk = await front.startStandIn((request) =>
    request.body.includes('poison pill') ? json(500, { error: { message: 'no' } }) : fine(request),
  );
  await front.add('poisoned', `base_url = "${desk.url}"\n`);
  const poison = chat('poisoned', { messages: [{ role: 'user', content: 'poison pill' }] });
  for (let count = 0; count < 8; count++)
    expect((await front.send('POST', CHAT, { body: poison })).status).toBe(500);
  expect((await post('poisoned')).status).toBe(200);
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
