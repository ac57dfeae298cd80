import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { ResponseOutline } from './embeddings/response-outline.ts';
import type { ResponseWriter } from './forward/response-writer.ts';
import { post, readAll, send, until } from './testing/client.ts';
import { closeAfterEach, startWithManualEngine } from './testing/forwarding.ts';
import { TransformedResponse } from './transform-response.ts';

closeAfterEach();

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerankings';
const FLOATS = { model: 'qwen', input: 'x' };
const BASE64 = { ...FLOATS, encoding_format: 'base64' };
const JSON_HEAD = { 'content-type': 'application/json' };
/** More bytes than are collected before the check. */
const LONG = Array.from({ length: 300_000 }, (_, at) => (at % 10) / 8).join(',');
const START = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[${LONG}`;
const END = ']}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}';

/** Rebuilt responses have neither this order nor this white space. */
const exactBody = (embedding: string, usage = '"usage": {"total_tokens": 4, "prompt_tokens": 4}, ') =>
  `{${usage}"model": "m", "object": "list", "data": [ {"index": 0, "embedding": ${embedding}, "object": "embedding"} ]}`;
const EXACT_FLOATS = exactBody('[ 1.50, -0.0 ]');
const EXACT_BASE64 = exactBody('"AADAPwAAAIA="');
const GZIP = { 'content-encoding': 'gzip' };

/** A gateway with slots of a third-party engine; the test plays each of its responses. */
async function foreign() {
  const set = await startWithManualEngine();
  set.slots.records = [
    slotRecord({ name: 'embed', type: 'embedding', engine: 'llama-server', model: 'qwen' }),
    slotRecord({ name: 'rerank', type: 'rerank', engine: 'llama-server', model: 'ranks' }),
  ];
  return set;
}

describe('a client disconnect', () => {
  const rank = { model: 'ranks', query: 'q', documents: ['a'] };
  const phases: [string, string, object, (res: ServerResponse) => void][] = [
    ['embeddings before the head', EMBEDDINGS, FLOATS, () => {}],
    ['embeddings that are buffered', EMBEDDINGS, BASE64, (res) => res.writeHead(200, JSON_HEAD).write(START)],
    ['embeddings that are relayed', EMBEDDINGS, FLOATS, (res) => res.writeHead(200, JSON_HEAD).write(START)],
    ['a ranking', RERANK, rank, (res) => res.writeHead(200, JSON_HEAD).write('{"results":[')],
  ];
  test.each(phases)('%s: the engine connection is closed', async (_, path, body, respond) => {
    const { gateway, responses, engine, slots } = await foreign();
    const { req } = send(gateway.origin, path, JSON.stringify(body));
    req.on('error', () => {});
    await until(() => responses.length === 1);
    respond(responses[0] as ServerResponse);
    await new Promise(setImmediate);
    req.destroy();
    await until(() => engine.sockets.size === 0);
    await until(() => slots.released === 1 && gateway.log.length === 1);
    expect(gateway.log[0]).toMatchObject({ status: 499, error: 'client_closed' });
  });
});

test('a long response in the requested form is relayed before its end', async () => {
  const { gateway, responses } = await foreign();
  const { head } = send(gateway.origin, EMBEDDINGS, JSON.stringify(FLOATS));
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, JSON_HEAD).write(START);
  const res = await head;
  responses[0]?.end(END);
  expect(await readAll(res)).toMatchObject({ status: 200, body: START + END, whole: true });
  await until(() => gateway.log.length === 1);
  expect(gateway.log[0]).toMatchObject({ status: 200, prompt_tokens: 1 });
});

test('a long response in the other form is transformed', async () => {
  const { gateway, responses } = await foreign();
  const answer = post(gateway.origin, EMBEDDINGS, BASE64);
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, JSON_HEAD).end(START + END);
  const { status, headers, body } = await answer;
  const { data, usage } = JSON.parse(body) as { data: { embedding: string }[]; usage: object };
  expect([status, headers['content-length'], usage]).toEqual([
    200,
    String(body.length),
    { prompt_tokens: 1, total_tokens: 1 },
  ]);
  expect(Buffer.from(data[0]?.embedding ?? '', 'base64')).toHaveLength(300_000 * 4);
});

test('an error of the engine passes byte for byte', async () => {
  const { gateway, responses } = await foreign();
  const answer = post(gateway.origin, EMBEDDINGS, FLOATS);
  await until(() => responses.length === 1);
  const body = '{"error": {"code":"no","message":"not today"}}';
  responses[0]?.writeHead(418, JSON_HEAD).end(body);
  expect(await answer).toMatchObject({ status: 418, body });
});

describe('an engine that fails in the middle of its response', () => {
  test('that is buffered: 502', async () => {
    const { gateway, responses } = await foreign();
    const answer = post(gateway.origin, EMBEDDINGS, BASE64);
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, JSON_HEAD).write(START, () => responses[0]?.destroy());
    expect(await answer).toMatchObject({ status: 502 });
    expect(gateway.log[0]?.status).toBe(502);
  });

  test('that is relayed: the connection breaks', async () => {
    const { gateway, responses } = await foreign();
    const { head } = send(gateway.origin, EMBEDDINGS, JSON.stringify(FLOATS));
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, JSON_HEAD).write(START);
    const res = await head;
    responses[0]?.destroy();
    expect(await readAll(res)).toMatchObject({ status: 200, whole: false });
  });
});

test.each([FLOATS, BASE64])('cancelled while it arrives: %j', async (body) => {
  const { gateway, responses, engine } = await foreign();
  const { head } = send(gateway.origin, EMBEDDINGS, JSON.stringify(body));
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, JSON_HEAD).write(START);
  if (body === FLOATS) await head;
  gateway.inference.cancel('r1');
  const { status, whole } = await readAll(await head);
  expect([status, whole]).toEqual(body === FLOATS ? [200, false] : [503, true]);
  await until(() => engine.sockets.size === 0);
});

test.each(['<html>', '[]', 'null', '{"data":[]}'])('%s is 502', async (text) => {
  const { gateway, responses } = await foreign();
  const answer = post(gateway.origin, EMBEDDINGS, FLOATS);
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, JSON_HEAD).end(text);
  expect(await answer).toMatchObject({ status: 502 });
});

describe('a short response', () => {
  type Vectors = { data: { embedding: unknown }[]; usage: object };
  const answered = async (request: object, body: string | Buffer, headers: object = {}) => {
    const { gateway, responses } = await foreign();
    const answer = post(gateway.origin, EMBEDDINGS, request);
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, { ...JSON_HEAD, ...headers }).end(body);
    const response = await answer;
    await until(() => gateway.log.length === 1);
    return { response, logged: gateway.log[0] };
  };

  test.each([
    ['floats as floats', FLOATS, EXACT_FLOATS],
    ['base64 as base64', BASE64, EXACT_BASE64],
  ])('%s passes byte for byte and its tokens are counted', async (_, request, body) => {
    const { response, logged } = await answered(request, body);
    expect(response).toMatchObject({ status: 200, body });
    expect(response.headers).toMatchObject({ ...JSON_HEAD, 'content-length': String(body.length) });
    expect(logged).toMatchObject({ status: 200, prompt_tokens: 4 });
  });

  test.each([
    ['floats as base64', BASE64, EXACT_FLOATS, 'AADAPwAAAIA='],
    ['base64 as floats', FLOATS, EXACT_BASE64, [1.5, 0]],
    ['the requested length', { ...FLOATS, dimensions: 2 }, EXACT_FLOATS, [1.5, 0]],
  ])('%s is converted and its tokens are counted', async (_, request, body, embedding) => {
    const { response, logged } = await answered(request, body);
    expect((JSON.parse(response.body) as Vectors).data).toEqual([
      { object: 'embedding', index: 0, embedding },
    ]);
    expect(logged).toMatchObject({ status: 200, prompt_tokens: 4 });
  });

  test('that is compressed is decoded', async () => {
    const { response, logged } = await answered(FLOATS, gzipSync(EXACT_FLOATS), GZIP);
    expect((JSON.parse(response.body) as Vectors).data).toHaveLength(1);
    expect(logged).toMatchObject({ status: 200, prompt_tokens: 4 });
  });

  test('without usage gets counts of zero', async () => {
    const { response } = await answered(FLOATS, exactBody('[1]', ''));
    expect((JSON.parse(response.body) as Vectors).usage).toEqual({ prompt_tokens: 0, total_tokens: 0 });
  });

  test.each<[string, string | Buffer, object]>([
    ['an error with status 200', '{"object":"error","message":"no","code":500}', {}],
    ['an error object with status 200', '{"error":{"message":"no"}}', {}],
    ['a body in an unknown coding', gzipSync(EXACT_FLOATS), { 'content-encoding': 'compress' }],
    ['NaN', exactBody('[1, NaN]'), {}],
  ])('%s is 502', async (_, body, headers) => {
    const { response, logged } = await answered(FLOATS, body, headers);
    expect([response.status, logged?.status]).toEqual([502, 502]);
  });
});

test('a response that exceeds the limit ends the call', async () => {
  const end = vi.fn<(reason: GatewayError | 'client') => void>();
  const sink = new TransformedResponse({
    response: { headSent: false } as ResponseWriter,
    scope: { onEnd: () => () => {}, end } as never,
    transform: (bytes) => bytes,
    check: new ResponseOutline({ format: 'base64', count: 1 }),
  });
  const chunk = Buffer.alloc(64 * 1024 * 1024, '1');
  sink.begin(200, JSON_HEAD);
  for (let sent = 0; sent < 5; sent++) sink.write(chunk);
  expect(end).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: 'upstream.error', status: 502 }),
  );
});
