/** `[fallbacks]` over real ports: when another model serves a request, when it must not, and how it is named. */
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExplainView, RequestDetailView } from '../contract/system.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { json, provider, type ReceivedRequest, type StandIn } from './harness/stand-in.ts';

const front = new Front();
let [desk, den, cloud]: StandIn[] = [];
const server = (which: StandIn | undefined) => which as StandIn;

const isList = ({ url }: ReceivedRequest) => url.split('?')[0]?.endsWith('/models') === true;
const lists =
  (ids: string[], respond: (request: ReceivedRequest) => RequestListener) =>
  (request: ReceivedRequest): RequestListener =>
    isList(request) ? provider(...ids)(request) : respond(request);
const busy = lists(['big', 'vectors'], () =>
  json(503, { error: { message: 'no capacity' } }, { 'retry-after': '7' }),
);
const ALLOWED = { 'x-svc-allow-fallback': '1' };

const put = (values: object) => front.send('PUT', '/api/settings', { body: { values } });
const modelsSentTo = (which: StandIn | undefined) =>
  server(which)
    .requests.filter((request) => !isList(request))
    .map(({ body }) => (JSON.parse(body) as { model: string }).model);
const post = (model: string, headers: Record<string, string> = ALLOWED, more: object = {}) =>
  front.send('POST', CHAT, { body: chat(model, more), headers });
const explain = async (body: object) =>
  (
    await front.send('POST', '/api/dispatch/explain', { body: { path: CHAT, model: 'big', ...body } })
  ).json<ExplainView>();

beforeAll(async () => {
  await front.start();
  const start = () => front.startStandIn(provider());
  [desk, den, cloud] = await Promise.all([start(), start(), start()]);
});
beforeEach(async () => {
  server(desk).respondWith(busy);
  server(den).respondWith(provider('small'));
  server(cloud).respondWith(provider('gpt'));
  await front.add('desk', `base_url = "${server(desk).url}"\n`);
  await front.add('den', `base_url = "${server(den).url}"\n`);
  await front.add('cloud', `base_url = "${server(cloud).url}"\nremote = true\n`);
  await put({ fallbacksEnabled: false, fallbacks: { big: ['gpt', 'small'] } });
  for (const each of [desk, den, cloud]) server(each).requests.length = 0;
});
afterAll(() => front.close());

describe('a caller who opted in', () => {
  it('gets the answer of the fallback of a busy model, named in the headers, the log and in order of the spend guard', async () => {
    const { status, headers } = await post('big');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'x-svc-fallback': 'small',
      'x-svc-model': 'small',
      'x-svc-upstream': 'den',
    });
    expect([modelsSentTo(desk), modelsSentTo(den), modelsSentTo(cloud)]).toEqual([['big'], ['small'], []]);
    const id = headers['x-request-id'];
    await expect
      .poll(async () => (await front.send('GET', `/api/requests/${id}`)).json<RequestDetailView>())
      .toMatchObject({
        model: 'small',
        status: 200,
        story: { rule: 'fallback', before: [{ upstream: 'desk', error: 'upstream.error' }] },
      });
  });

  it('gets it in a stream too, and by each API', async () => {
    const stream = await post('big', ALLOWED, { stream: true });
    expect([stream.status, stream.headers['x-svc-fallback']]).toEqual([200, 'small']);
    for (const [path, body] of [
      ['/v1/messages', { model: 'big', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }],
      ['/v1/responses', { model: 'big', input: 'hi' }],
    ] as const) {
      const { status, headers } = await front.send('POST', path, { body, headers: ALLOWED });
      expect([path, status, headers['x-svc-fallback']]).toEqual([path, 200, 'small']);
    }
  });

  it('gets it from a provider with a spend guard last', async () => {
    server(den).respondWith(lists(['small'], () => json(429, { error: { message: 'slow down' } })));
    expect((await post('big')).headers).toMatchObject({ 'x-svc-fallback': 'gpt', 'x-svc-upstream': 'cloud' });
    expect([modelsSentTo(desk), modelsSentTo(den), modelsSentTo(cloud)]).toEqual([
      ['big'],
      ['small'],
      ['gpt'],
    ]);
  });

  it('gets it while the upstream cannot be reached, is paused, or is at its daily limit', async () => {
    await server(desk).stop();
    // Drops the connection that is still open at the gateway.
    await front.send('POST', '/api/upstreams/desk/test');
    for (let call = 0; call < 8; call++) expect((await post('big')).headers['x-svc-fallback']).toBe('small');
    await server(desk).start();
    server(desk).respondWith(provider('big'));
    await front.add('desk', `base_url = "${server(desk).url}"\ndaily_requests = 1\n`);
    await expect.poll(async () => (await front.upstream('desk')).daily_requests).toBe(1);
    server(desk).requests.length = 0;
    expect((await post('big')).headers['x-svc-fallback']).toBe('small');
    expect(modelsSentTo(desk)).toEqual([]);
  });

  it('gets the error of the requested model when no fallback takes the request', async () => {
    for (const each of [den, cloud])
      server(each).respondWith(lists(['small', 'gpt'], () => json(503, { error: { message: 'full' } })));
    const { status, headers } = await post('big');
    expect([status, headers['x-svc-fallback'], headers['retry-after']]).toEqual([503, undefined, '7']);
    expect([modelsSentTo(desk), modelsSentTo(den), modelsSentTo(cloud)]).toEqual([
      ['big'],
      ['small'],
      ['gpt'],
    ]);
  });

  it('never goes around when models name each other', async () => {
    await put({ fallbacks: { big: ['small'], small: ['big'] } });
    server(den).respondWith(lists(['small'], () => json(503, { error: { message: 'full' } })));
    expect((await post('big')).status).toBe(503);
    expect([modelsSentTo(desk), modelsSentTo(den)]).toEqual([['big'], ['small']]);
  });
});

describe('no other model serves a request', () => {
  it.each([
    ['without the opt-in', {}, undefined, 503],
    [
      'with the header 0, whatever the setting',
      { fallbacksEnabled: true },
      { 'x-svc-allow-fallback': '0' },
      503,
    ],
    ['for a model without fallbacks', { fallbacks: { other: ['small'] } }, ALLOWED, 503],
  ])('%s', async (_, settings, headers, status) => {
    await put(settings);
    const answer = await post('big', headers ?? {});
    expect([answer.status, answer.headers['x-svc-fallback'], modelsSentTo(den)]).toEqual([
      status,
      undefined,
      [],
    ]);
  });

  const reset: RequestListener = (req) => void req.socket.destroy();
  const broken: RequestListener = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n', () => res.socket?.destroy());
  };
  it.each([
    ['a reset after the request was sent', reset, {}, 502],
    ['a 500', json(500, { error: { message: 'crash' } }), {}, 500],
    ['a 400', json(400, { error: { message: 'no' } }), {}, 400],
    ['a 404', json(404, { error: { message: 'gone' } }), {}, 404],
    ['a stream that breaks off', broken, { stream: true }, 200],
  ])('after %s', async (_, respond, more, status) => {
    server(desk).respondWith(lists(['big'], () => respond));
    const answer = await post('big', ALLOWED, more);
    expect([answer.status, modelsSentTo(desk), modelsSentTo(den), modelsSentTo(cloud)]).toEqual([
      status,
      ['big'],
      [],
      [],
    ]);
  });

  it('on routes whose answers depend on the model', async () => {
    await put({ fallbacks: { vectors: ['small'] } });
    const body = { model: 'vectors', input: 'x' };
    const { status, headers } = await front.send('POST', '/v1/embeddings', { body, headers: ALLOWED });
    expect([status, headers['x-svc-fallback'], modelsSentTo(den)]).toEqual([503, undefined, []]);
    expect(await explain({ path: '/v1/embeddings', model: 'vectors' })).toMatchObject({
      fallback: { off: 'route', used: null },
    });
  });
});

describe('explain', () => {
  it('names the fallbacks, the one that would be used, and why others would not', async () => {
    expect(await explain({})).toMatchObject({
      fallback: {
        off: 'not_allowed',
        used: null,
        models: [{ model: 'small', upstream: 'den' }, { model: 'gpt' }],
      },
    });
    await server(desk).stop();
    for (let call = 0; call < 7; call++) await post('big', {});
    await put({ fallbacks: { big: ['missing', 'small'] } });
    const allowed = await explain({ allow_fallback: true });
    expect(allowed.error).toBeNull();
    expect(allowed.fallback).toMatchObject({
      off: null,
      used: 'small',
      models: [
        { model: 'missing', error: { code: 'dispatch.no_route' } },
        { model: 'small', error: null },
      ],
    });
    expect((await explain({})).error).toMatchObject({ code: 'dispatch.upstream_unavailable' });
    await server(desk).start();
  });
});

it('the setting applies at once, and refuses what would be a cycle', async () => {
  expect((await post('big', {})).status).toBe(503);
  await put({ fallbacksEnabled: true });
  expect((await post('big', {})).headers['x-svc-fallback']).toBe('small');
  const refused = await put({ fallbacks: { big: ['big'] } });
  expect([refused.status, refused.text.includes('must not contain the model itself')]).toEqual([422, true]);
});
