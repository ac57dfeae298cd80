/** Options that a server refuses and the answer does not depend on: vectors in base64, token counts of streams. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post } from '../testing/client.ts';
import { CHAT, closeAfterEach, closers, delta, SSE } from '../testing/forwarding.ts';
import { listen, openGateway, TestSlots } from '../testing/gateway.ts';
import { OptionSupport } from './option-support.ts';

closeAfterEach();

type Body = Record<string, unknown>;
interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

const EMBEDDINGS = '/v1/embeddings';
const COMPLETIONS = '/v1/completions';
const VECTOR = [0.5, -0.25];
const CODED = Buffer.from(new Float32Array(VECTOR).buffer).toString('base64');

const sendJson = (res: ServerResponse, status: number, body: unknown): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Starts a gateway with an upstream that refuses bodies for which `refusal` returns something. */
async function withUpstream(refusal: (body: Body) => Refusal | null) {
  const received: Body[] = [];
  const upstream = await listen(async (req: IncomingMessage, res: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Body;
    received.push(body);
    const refused = refusal(body);
    if (refused !== null) return sendJson(res, refused.status, refused.body);
    if (req.url !== EMBEDDINGS) return void res.writeHead(200, SSE).end(`${delta('a')}data: [DONE]\n\n`);
    const data = [{ object: 'embedding', index: 0, embedding: VECTOR }];
    sendJson(res, 200, { object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } });
  });
  closers.push(upstream.close);
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'far', models: ['m', 'n'], remote: false })],
    connect: () => upstreamCall({ origin: upstream.origin, remote: false }),
  };
  const gateway = await openGateway({ slots: new TestSlots([]), upstreams });
  closers.push(gateway.close);
  return { gateway, received };
}

const vectorOf = (body: string) =>
  (JSON.parse(body) as { data: { embedding: unknown }[] }).data[0]?.embedding;

/** The forms in which servers refuse a field. */
const FORMS: readonly [name: string, status: number, body: (field: string) => unknown][] = [
  ['a message', 400, (field) => ({ error: { message: `${field} is not supported` } })],
  ['OpenAI', 400, (field) => ({ error: { message: 'Unknown parameter.', param: field, code: 'unknown' } })],
  ['a text', 400, (field) => ({ error: `Unrecognized request argument supplied: ${field}` })],
  ['a flat body', 400, (field) => ({ message: `property '${field}' is unsupported` })],
  [
    'pydantic',
    422,
    (field) => ({ detail: [{ loc: ['body', field], msg: 'Extra inputs are not permitted' }] }),
  ],
  ['FastAPI', 422, (field) => ({ detail: `${field}: not permitted` })],
];

describe('encoding_format', () => {
  const coded = { model: 'm', input: 'x', encoding_format: 'base64' };

  test.each(FORMS)(
    'a server that refuses it gets requests for numbers, from then on: %s',
    async (_, status, body) => {
      const { gateway, received } = await withUpstream((request) =>
        'encoding_format' in request ? { status, body: body('encoding_format') } : null,
      );
      for (const format of ['base64', 'base64', 'float'])
        expect(
          vectorOf((await post(gateway.origin, EMBEDDINGS, { ...coded, encoding_format: format })).body),
        ).toEqual(format === 'base64' ? CODED : VECTOR);
      expect(received.map((each) => 'encoding_format' in each)).toEqual([true, false, false, false]);
      await post(gateway.origin, EMBEDDINGS, { ...coded, model: 'n' });
      expect(received.map((each) => 'encoding_format' in each).slice(4)).toEqual([true, false]);
    },
  );

  test('a refusal of the value is one of the field', async () => {
    const { gateway } = await withUpstream(({ encoding_format }) =>
      encoding_format === 'base64'
        ? { status: 400, body: { error: { message: 'base64 is unknown' } } }
        : null,
    );
    expect(vectorOf((await post(gateway.origin, EMBEDDINGS, coded)).body)).toBe(CODED);
  });

  test.each([
    [400, { error: { message: 'The input is too large.' } }],
    [400, { error: { message: 'bad', request: { encoding_format: 'base64' } } }],
    [422, { detail: [{ loc: ['body', 'input'], msg: 'bad', input: { encoding_format: 'base64' } }] }],
    [500, { error: { message: 'encoding_format is not supported' } }],
    [429, { error: { message: 'encoding_format: too many' } }],
    [404, { error: { message: 'encoding_format?' } }],
  ])('%i %j is no refusal of it and passes', async (status, body) => {
    const { gateway, received } = await withUpstream(() => ({ status, body }));
    expect((await post(gateway.origin, EMBEDDINGS, coded)).status).toBe(status);
    expect(received).toHaveLength(1);
  });

  test('a server that refuses every request gets two of them', async () => {
    const { gateway, received } = await withUpstream(() => ({
      status: 400,
      body: { error: { message: 'encoding_format' } },
    }));
    expect((await post(gateway.origin, EMBEDDINGS, coded)).status).toBe(400);
    expect(received).toHaveLength(2);
  });

  test.each([
    [{ encoding_format: null, dimensions: null }, {}],
    [{ encoding_format: 'base64', dimensions: null }, { encoding_format: 'base64' }],
    [{ encoding_format: null, dimensions: 2 }, { dimensions: 2 }],
    [{ user: null }, { user: null }],
  ])('null counts as absent: %j', async (fields, expected) => {
    const { gateway, received } = await withUpstream(() => null);
    const sent = await post(gateway.origin, EMBEDDINGS, { model: 'm', input: 'x', ...fields });
    expect(sent.status).toBe(200);
    expect(received).toEqual([{ model: 'm', input: 'x', ...expected }]);
  });

  test('the last of several values counts', async () => {
    const { gateway, received } = await withUpstream(() => null);
    const text = '{"encoding_format":"base64","model":"m","input":"x","encoding_format":null}';
    expect(vectorOf((await post(gateway.origin, EMBEDDINGS, text)).body)).toEqual(VECTOR);
    expect(received).toEqual([{ model: 'm', input: 'x' }]);
  });
});

describe('stream_options', () => {
  const bodies = {
    [CHAT]: { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] },
    [COMPLETIONS]: { model: 'm', stream: true, prompt: 'hi' },
  } as const;
  const paths = Object.keys(bodies) as (keyof typeof bodies)[];

  test.each(FORMS)('a server that refuses it streams without, from then on: %s', async (_, status, body) => {
    const { gateway, received } = await withUpstream((request) =>
      'stream_options' in request ? { status, body: body('stream_options') } : null,
    );
    for (const path of [...paths, ...paths]) {
      const answer = await post(gateway.origin, path, bodies[path]);
      expect([answer.status, answer.body]).toEqual([200, `${delta('a')}data: [DONE]\n\n`]);
    }
    expect(received.map((each) => 'stream_options' in each)).toEqual([true, false, false, false, false]);
    expect(gateway.log.map(({ error }) => error)).toEqual([null, null, null, null]);
  });

  test('a caller that requests it gets the refusal', async () => {
    const { gateway, received } = await withUpstream((request) =>
      'stream_options' in request ? { status: 400, body: FORMS[1]?.[2]('stream_options') } : null,
    );
    const stream_options = { include_usage: true };
    for (const path of paths)
      expect((await post(gateway.origin, path, { ...bodies[path], stream_options })).status).toBe(400);
    expect(received).toHaveLength(2);
  });

  test.each([
    [400, { error: { message: 'The prompt is too long.' } }],
    [500, { error: { message: 'stream_options' } }],
    [400, { error: { message: 'bad', stream_options: 1 } }],
  ])('%i %j is no refusal of it', async (status, body) => {
    const { gateway, received } = await withUpstream(() => ({ status, body }));
    expect((await post(gateway.origin, CHAT, bodies[CHAT])).status).toBe(status);
    expect(received).toHaveLength(1);
  });
});

test('what one model of one server refuses is sent to all others', () => {
  const support = new OptionSupport();
  const bytes = Buffer.from('{"error":{"param":"stream_options"}}');
  expect(support.recordFailure('stream_options', 'a', 'm', { status: 400, bytes, truncated: false })).toBe(
    true,
  );
  expect(support.isRefused('stream_options', 'a', 'm')).toBe(true);
  for (const [option, origin, model] of [
    ['encoding_format', 'a', 'm'],
    ['stream_options', 'b', 'm'],
    ['stream_options', 'a', 'n'],
    ['stream_options', 'a', null],
  ] as const)
    expect(support.isRefused(option, origin, model)).toBe(false);
});
