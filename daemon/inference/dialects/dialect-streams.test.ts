import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { post, readAll, send, until } from '../testing/client.ts';
import {
  BODIES,
  chunk,
  eventsOf,
  finish,
  MESSAGES,
  PATHS,
  type Path,
  RESPONSES,
  typesOf,
} from '../testing/dialects.ts';
import { closeAfterEach, delta, SSE, setUp, startWithManualEngine } from '../testing/forwarding.ts';

closeAfterEach();

async function streamed(path: Path, write: (engine: ServerResponse) => void) {
  const { gateway, responses } = await startWithManualEngine();
  const { head } = send(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, SSE);
  write(responses[0] as ServerResponse);
  return { gateway, answer: await readAll(await head) };
}

const LAST = { [RESPONSES]: 'response.failed', [MESSAGES]: 'error' } as const;

describe.each(PATHS)('%s: a failing stream', (path) => {
  test.each<[string, (engine: ServerResponse) => void, string]>([
    [
      'the engine disconnects',
      (engine) => void engine.write(delta('one'), () => engine.destroy()),
      'dispatch.upstream_unavailable',
    ],
    ['the stream ends without an end marker', (engine) => void engine.end(delta('one')), 'upstream.error'],
    [
      'an event is not JSON',
      (engine) => void engine.write(`${delta('one')}data: {oops\n\n`),
      'upstream.error',
    ],
    [
      'the engine sends an error event',
      (engine) => void engine.end(`${delta('one')}data: {"error":{"code":"oom","message":"no memory"}}\n\n`),
      'oom',
    ],
  ])('%s', async (_, write, code) => {
    const { answer } = await streamed(path, write);
    const events = eventsOf(answer.body);
    const last = events.at(-1);
    expect(last?.type).toBe(LAST[path]);
    expect(events.filter(({ type }) => type === 'error' || type === 'response.failed')).toHaveLength(1);
    expect(answer.whole).toBe(true);
    const holder = (path === RESPONSES ? last?.response : last) as { error: { code: string } };
    expect(holder.error.code).toBe(code);
    expect(events.filter(({ type }) => type === 'response.completed' || type === 'message_stop')).toEqual([]);
  });
});

test.each([
  ['{"message":"gpu lost","code":500}', 'api_error'],
  ['{"message":"gpu lost","code":"529"}', 'overloaded_error'],
  ['"gpu lost"', 'api_error'],
  ['{"message":"gpu lost","type":"server_error"}', 'api_error'],
  ['{"message":"gpu lost","code":429,"type":"TooManyRequests"}', 'rate_limit_error'],
  ['{"message":"gpu lost","type":"overloaded_error"}', 'overloaded_error'],
])('an error %s has a type and a string code that Anthropic clients know', async (error, type) => {
  const { answer } = await streamed(MESSAGES, (engine) =>
    engine.end(`${delta('one')}data: {"error":${error}}\n\n`),
  );
  expect(eventsOf(answer.body).at(-1)).toMatchObject({
    type: 'error',
    error: { message: 'gpu lost', code: expect.any(String), type, param: null },
  });
});

test.each(PATHS)('%s: an error is recorded, regardless of later events', async (path) => {
  const { gateway } = await streamed(path, (engine) =>
    engine.end(`${delta('one')}data: {"error":{"code":500}}\n\n${delta('x'.repeat(9_000)).repeat(20)}`),
  );
  await until(() => gateway.log.length === 1);
  expect(gateway.log[0]).toMatchObject({ status: 200, error: 'upstream.error' });
});

test('keep-alives of a long load reach callers of both', async () => {
  const { gateway, slots, responses } = await startWithManualEngine();
  let ready = () => {};
  slots.before = async (_, options) => {
    options.onDecided?.();
    await new Promise<void>((done) => {
      ready = done;
    });
  };
  for (const path of PATHS) {
    const count = responses.length;
    const { head } = send(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    const res = await head;
    let text = '';
    res.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await until(() => text.includes(path === MESSAGES ? 'event: ping' : ': waiting'));
    ready();
    await until(() => responses.length > count);
    responses.at(-1)?.writeHead(200, SSE);
    responses.at(-1)?.end(`${delta('one')}${finish('length')}data: [DONE]\n\n`);
    await until(() => res.complete);
    expect(
      typesOf(text).filter((type) => type === 'response.created' || type === 'message_start'),
    ).toHaveLength(1);
    expect(text).toContain(path === MESSAGES ? '"stop_reason":"max_tokens"' : '"reason":"max_output_tokens"');
  }
}, 20_000);

/** A chat with reasoning, text, two calls and token counts. */
const RICH = [
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }),
  chunk({ choices: [{ index: 0, delta: { reasoning_content: 'hm €' } }] }),
  ': ping\n\n',
  delta('two '),
  delta('words'),
  chunk({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"z"' } }] },
      },
    ],
  }),
  chunk({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] }),
  chunk({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] } },
    ],
  }),
  finish('tool_calls'),
  chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } }),
  'data: [DONE]\n\n',
].join('');

const part = (name: string, deltas = 1) => [
  'response.output_item.added',
  'response.content_part.added',
  ...Array.from({ length: deltas }, () => `response.${name}.delta`),
  `response.${name}.done`,
  'response.content_part.done',
  'response.output_item.done',
];
const block = (deltas: number) => [
  'content_block_start',
  ...Array.from({ length: deltas }, () => 'content_block_delta'),
  'content_block_stop',
];
const CALL = 'response.function_call_arguments';
const CALL_ITEM = ['response.output_item.added', `${CALL}.done`, 'response.output_item.done'];

/** The expected events; reasoning ends with a signature delta. */
const EXPECTED_EVENTS: Readonly<Record<Path, readonly string[]>> = {
  [RESPONSES]: [
    ...['response.created', 'response.in_progress'],
    ...part('reasoning_text'),
    ...part('output_text', 2),
    ...CALL_ITEM.toSpliced(1, 0, `${CALL}.delta`, `${CALL}.delta`),
    ...CALL_ITEM.toSpliced(1, 0, `${CALL}.delta`),
    'response.completed',
  ],
  [MESSAGES]: [
    ...['message_start', 'ping'],
    ...block(2).toSpliced(2, 0, 'ping'),
    ...block(2),
    ...block(2),
    ...block(0),
    ...['message_delta', 'message_stop'],
  ],
};

/** Ids and times differ each time. */
const plain = (text: string) =>
  text
    .replace(/"(resp|msg|rs|fc)_[0-9a-f]{32}"/g, '"$1"')
    .replace(/"(created|completed)_at":\d+/g, '"$1_at":0');

test.each(PATHS)('%s: the caller gets the same events for any chunking by the engine', async (path) => {
  let cuts: number[] = [];
  const bytes = Buffer.from(RICH);
  const { gateway } = await setUp((req, res) => {
    req.resume();
    res.writeHead(200, SSE);
    const at = [0, ...cuts, bytes.length];
    const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
    const next = () => {
      const part = parts.shift();
      if (part === undefined) return void res.end();
      res.write(part, () => setImmediate(next));
    };
    next();
  });
  const body = { ...BODIES[path], stream: true };
  const whole = plain((await post(gateway.origin, path, body)).body);
  expect(typesOf(whole)).toEqual(EXPECTED_EVENTS[path]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (some) => {
      cuts = some.sort((a, b) => a - b);
      expect(plain((await post(gateway.origin, path, body)).body)).toBe(whole);
    }),
    { numRuns: 25 },
  );
});
