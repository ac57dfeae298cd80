import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { post, until } from '../testing/client.ts';
import { BODIES, chunk, eventsOf, finish, MESSAGES, RESPONSES } from '../testing/dialects.ts';
import { CHAT, closers, delta, hello, SSE, setUp } from '../testing/forwarding.ts';

const COMPLETIONS = '/v1/completions';
const JSON_TYPE = { 'content-type': 'application/json' };
const BODY = { [CHAT]: hello, [COMPLETIONS]: { model: 'agent', prompt: 'hi' }, ...BODIES } as const;
type AnyPath = keyof typeof BODY;
const ALL_PATHS = Object.keys(BODY) as AnyPath[];

/** One gateway and engine for all tests: a new port for each of a thousand requests would exhaust them. */
let shared: Awaited<ReturnType<typeof setUp>>;
let respond: (res: ServerResponse) => void = (res) => void res.end();
const close: (() => Promise<void>)[] = [];
beforeAll(async () => {
  shared = await setUp((req, res) => {
    req.resume();
    respond(res);
  });
  close.push(...closers.splice(0));
});
afterAll(async () => {
  for (const each of close.reverse()) await each();
});

/** Sends one request to a gateway whose engine gives this answer. Returns the answer and the new records. */
async function send(path: AnyPath, stream: boolean, headers: object, body: string | Buffer) {
  respond = (res) => {
    res.writeHead(200, { ...headers });
    res.end(body);
  };
  const { gateway } = shared;
  const before = gateway.log.length;
  const answer = await post(gateway.origin, path, { ...BODY[path], ...(stream && { stream }) });
  await until(() => gateway.log.length > before);
  return { answer, gateway: { log: gateway.log.slice(before) } };
}

const whole = {
  id: 'c1',
  object: 'chat.completion',
  created: 7,
  model: 'qwen',
  choices: [{ index: 0, message: { role: 'assistant', content: 'one two' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const wholeText = {
  id: 'c1',
  object: 'text_completion',
  choices: [{ index: 0, text: 'one two', logprobs: null, finish_reason: 'stop' }],
  usage: whole.usage,
};
const CHAT_STREAM = `: hi\n\n${delta('one ')}${delta('two')}${finish('stop')}${chunk({ choices: [], usage: whole.usage })}data: [DONE]\n\n`;
const TEXT_STREAM = `${chunk({ id: 'c1', object: 'text_completion', choices: [{ index: 0, text: 'one ' }] })}${chunk({ choices: [{ index: 0, text: 'two', finish_reason: 'stop' }] })}${chunk({ choices: [], usage: whole.usage })}data: [DONE]\n\n`;
const wholeFor = (path: AnyPath) => JSON.stringify(path === COMPLETIONS ? wholeText : whole);
const streamFor = (path: AnyPath) => (path === COMPLETIONS ? TEXT_STREAM : CHAT_STREAM);

/** The text that a client of this API reads from a stream. Checks that the stream ends as the API defines. */
function streamedText(path: AnyPath, body: string): string {
  if (path === MESSAGES || path === RESPONSES) {
    const events = eventsOf(body) as ({ type: string; delta: string } & { delta: { text?: string } })[];
    expect(events.at(-1)?.type).toBe(path === MESSAGES ? 'message_stop' : 'response.completed');
    if (path === MESSAGES) return events.map((event) => event.delta?.text ?? '').join('');
    return events.flatMap((e) => (e.type === 'response.output_text.delta' ? [e.delta] : [])).join('');
  }
  expect(body).toMatch(/data: \[DONE\]\s*$/);
  return dataOf(body)
    .map(({ choices: [choice] }) => choice?.text ?? choice?.delta?.content ?? '')
    .join('');
}

interface Chunk {
  choices: { text?: string; delta?: { content?: string }; finish_reason?: string | null }[];
  usage?: object;
  error?: Record<string, unknown>;
}
const dataOf = (body: string): Chunk[] =>
  body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);

function wholeTextOf(path: AnyPath, body: string): string {
  const value = JSON.parse(body);
  if (path === CHAT) return value.choices[0].message.content;
  if (path === COMPLETIONS) return value.choices[0].text;
  return path === MESSAGES ? value.content[0].text : value.output[0].content[0].text;
}

const TYPES: [string, object][] = [
  ['application/json', JSON_TYPE],
  ['text/event-stream', SSE],
  ['text/plain', { 'content-type': 'text/plain' }],
  ['application/octet-stream', { 'content-type': 'application/octet-stream' }],
  ['text/html', { 'content-type': 'text/html' }],
  ['no type', {}],
];

test.each(ALL_PATHS.flatMap((path) => TYPES.map(([type, headers]) => [path, type, headers] as const)))(
  '%s: a complete answer as %s to a streaming caller becomes a stream',
  async (path, _, headers) => {
    const { answer, gateway } = await send(path, true, headers, wholeFor(path));
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
    expect(streamedText(path, answer.body)).toBe('one two');
    expect(gateway.log).toMatchObject([{ status: 200, error: null, completion_tokens: 2 }]);
  },
);

test.each(ALL_PATHS.flatMap((path) => TYPES.map(([type, headers]) => [path, type, headers] as const)))(
  '%s: a stream as %s to a caller without a stream becomes a complete answer',
  async (path, _, headers) => {
    const { answer, gateway } = await send(path, false, headers, streamFor(path));
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(wholeTextOf(path, answer.body)).toBe('one two');
    expect(gateway.log).toMatchObject([{ status: 200, error: null, completion_tokens: 2 }]);
  },
);

test.each(
  ALL_PATHS.flatMap((path) => TYPES.slice(1).map(([type, headers]) => [path, type, headers] as const)),
)('%s: a stream as %s to a streaming caller stays a stream', async (path, _, headers) => {
  const { answer } = await send(path, true, headers, streamFor(path));
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
  expect(streamedText(path, answer.body)).toBe('one two');
  if (path === CHAT || path === COMPLETIONS) expect(answer.body).toBe(streamFor(path));
});

test('an assembled answer has calls, reasoning, choices in order, logprobs and usage', async () => {
  const call = (index: number, id: string | null, args: string) => ({
    tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: id }), arguments: args } }],
  });
  const choice = (index: number, delta: object, more: object = {}) =>
    chunk({ id: 'c9', model: 'm', system_fingerprint: 'fp', choices: [{ index, delta, ...more }] });
  const { answer } = await send(
    CHAT,
    false,
    SSE,
    [
      choice(1, { role: 'assistant', content: 'second' }, { logprobs: { content: [{ token: 'a' }] } }),
      choice(0, { role: 'assistant', reasoning_content: 'h' }),
      choice(0, { reasoning_content: 'm' }),
      choice(0, call(0, 'f', '')),
      choice(0, call(1, 'g', '{"y"')),
      choice(0, call(0, null, '{"x":1}')),
      choice(0, call(1, null, ':2}')),
      choice(1, { content: ' one' }, { logprobs: { content: [{ token: 'b' }] }, finish_reason: 'length' }),
      choice(0, {}, { finish_reason: 'tool_calls' }),
      chunk({ choices: [], usage: whole.usage }),
      'data: [DONE]',
    ].join(''),
  );
  expect(JSON.parse(answer.body)).toEqual({
    id: 'c9',
    model: 'm',
    system_fingerprint: 'fp',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          reasoning_content: 'hm',
          content: null,
          tool_calls: [
            { id: 'f', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'g', type: 'function', function: { name: 'g', arguments: '{"y":2}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
      {
        index: 1,
        message: { role: 'assistant', content: 'second one' },
        logprobs: { content: [{ token: 'a' }, { token: 'b' }] },
        finish_reason: 'length',
      },
    ],
    usage: whole.usage,
  });
});

test.each<[string, string]>([
  ['without its end', delta('one')],
  ['with an error', `${delta('one')}data: {"error":{"message":"boom","code":500}}\n\n`],
  ['that was aborted', `${delta('one')}${finish('abort')}data: [DONE]\n\n`],
  ['with a broken event', `${delta('one')}data: {oops\n\ndata: [DONE]\n\n`],
  ['without choices', 'data: [DONE]\n\n'],
])('a stream %s is a failure for a caller without a stream', async (_, body) => {
  for (const path of ALL_PATHS) {
    const { answer } = await send(path, false, SSE, body);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body).error.message).toEqual(expect.any(String));
  }
});

const HTML = '<!doctype html><html><body>502 Bad Gateway</body></html>';

/** Forms of errors after the first token, with the message that the caller must see. */
const FORMS: [what: string, bytes: string, message: string | null][] = [
  ['an error object', 'data: {"error":{"message":"boom","code":400}}', 'boom'],
  ['an error text', 'data: {"error":"boom"}', 'boom'],
  ['the form of older vLLM', 'data: {"object":"error","message":"boom","code":400}', 'boom'],
  ['a code and a message', 'data: {"code":40303,"message":"boom"}', 'boom'],
  ['a code as text and a message', 'data: {"code":"internal","message":"boom"}', 'boom'],
  [
    'the form of Anthropic',
    'data: {"type":"error","error":{"type":"overloaded_error","message":"boom"}}',
    'boom',
  ],
  ['an event named error', 'event: error\ndata: {"message":"boom"}', 'boom'],
  ['an event named error with text', 'event: error\ndata: boom', 'boom'],
  ['an event named error with an object', 'event: error\ndata: {"error":{"message":"boom"}}', 'boom'],
  [
    "OpenAI's error event",
    'data: {"type":"error","code":"server_error","message":"boom","param":null}',
    'boom',
  ],
  ['the form of FastAPI', 'data: {"detail":"boom"}', 'boom'],
  ['a validation error', 'data: {"detail":[{"loc":["body"],"msg":"boom"}]}', 'boom'],
  ['the form of FastChat', 'data: {"text":"boom","error_code":50001}', 'boom'],
  ['a flag and a message', 'data: {"error":true,"message":"boom"}', 'boom'],
  ['a list of errors', 'data: {"success":false,"errors":[{"code":7,"message":"boom"}]}', 'boom'],
  ['the form of Google', 'data: [{"error":{"code":503,"message":"boom"}}]', 'boom'],
  [
    'an error in a choice',
    'data: {"choices":[{"index":0,"delta":{},"error":{"message":"boom","code":502},"finish_reason":"error"}]}',
    'boom',
  ],
  ['an HTML page as data', `data: ${HTML}`, null],
  ['the finish reason abort', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}', null],
  ['the finish reason error', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}', null],
  [
    'the finish reason network_error',
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"network_error"}]}',
    null,
  ],
];

test.each(ALL_PATHS.flatMap((path) => FORMS.map((form) => [path, ...form] as const)))(
  '%s: %s after the first token ends the stream as an error',
  async (path, _, bytes, message) => {
    const body = `${path === COMPLETIONS ? chunk({ choices: [{ index: 0, text: 'a' }] }) : delta('a')}${bytes}\n\ndata: [DONE]\n\n`;
    const { answer, gateway } = await send(path, true, SSE, body);
    expect(answer).toMatchObject({ status: 200, whole: true });
    expect(answer.body).not.toContain('[DONE]');
    const errors = errorsOf(path, answer.body);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toEqual(message ?? expect.stringMatching(/./));
    expect(gateway.log).toMatchObject([{ status: 200, error: expect.any(String) }]);
  },
);

/** The errors that a client of this API finds in a stream; the last event must be one. */
function errorsOf(path: AnyPath, body: string): Record<string, unknown>[] {
  if (path === CHAT || path === COMPLETIONS) {
    const events = dataOf(body);
    expect(events.at(-1)?.error).toBeTruthy();
    return events.flatMap(({ error }) => (error ? [error] : []));
  }
  const events = eventsOf(body) as unknown as { type: string; error: never; response: { error: never } }[];
  const last = path === MESSAGES ? 'error' : 'response.failed';
  expect(events.at(-1)?.type).toBe(last);
  const failed = events.filter(({ type }) => type === 'error' || type === 'response.failed');
  return failed.map(({ error, response }) => (path === MESSAGES ? error : response.error));
}

test.each(ALL_PATHS)('%s: an HTML page with status 200 is a failure', async (path) => {
  for (const [headers, stream] of [
    [{ 'content-type': 'text/html' }, true],
    [{ 'content-type': 'text/html' }, false],
    [{}, true],
    [JSON_TYPE, true],
  ] as const) {
    const { answer } = await send(path, stream, headers, HTML);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body).error.message).not.toContain('Bad Gateway');
  }
  const { answer } = await send(path, true, SSE, HTML);
  expect(errorsOf(path, answer.body)).toHaveLength(1);
});

test.each<[string, string]>([
  ['an empty event', `data:\n\n${CHAT_STREAM}`],
  ['empty events between', CHAT_STREAM.replaceAll('\n\n', '\n\ndata:\n\n')],
  ['an event with a name only', `event: ping\n\n${CHAT_STREAM}`],
  ['CRLF', CHAT_STREAM.replaceAll('\n', '\r\n')],
  ['lone CR', CHAT_STREAM.replaceAll('\n', '\r')],
  ['a byte order mark', `\ufeff${CHAT_STREAM}`],
  ['no space after the colon', CHAT_STREAM.replaceAll('data: ', 'data:')],
  ['no blank line at the end', CHAT_STREAM.trimEnd()],
  ['an error that is null', CHAT_STREAM.replaceAll('{"choices"', '{"error":null,"choices"')],
  ['the word error in the text', CHAT_STREAM.replace('one ', String.raw`{\"error\":\"abort\"} event: `)],
])('%s in a stream is not an error', async (_, body) => {
  for (const path of [CHAT, MESSAGES, RESPONSES] as const) {
    const { answer, gateway } = await send(path, true, SSE, body);
    expect(answer.body).not.toMatch(/event: error|response\.failed/);
    if (path === CHAT) expect(answer.body).toBe(body);
    else expect(streamedText(path, answer.body)).toMatch(/two$/);
    expect(gateway.log).toMatchObject([{ error: null }]);
    const { answer: complete } = await send(path, false, SSE, body);
    expect(wholeTextOf(path, complete.body)).toMatch(/two$/);
  }
});

const CODINGS: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
  ['identity', (bytes) => bytes],
];

test.each(ALL_PATHS.flatMap((path) => CODINGS.map((coding) => [path, ...coding] as const)))(
  '%s: an answer with content coding %s is decoded',
  async (path, coding, compress) => {
    const encoding = { 'content-encoding': coding };
    const streamed = await send(path, true, { ...SSE, ...encoding }, compress(Buffer.from(streamFor(path))));
    expect(streamed.answer.headers['content-encoding']).toBeUndefined();
    expect(streamedText(path, streamed.answer.body)).toBe('one two');
    const body = compress(Buffer.from(wholeFor(path)));
    const complete = await send(
      path,
      false,
      { ...JSON_TYPE, ...encoding, 'content-length': body.length },
      body,
    );
    expect(complete.answer.headers['content-encoding'] ?? 'identity').toBe('identity');
    expect(wholeTextOf(path, complete.answer.body)).toBe('one two');
  },
);

test.each<[string, string, Buffer]>([
  ['an unknown coding', 'compress', Buffer.from('xyz')],
  ['several codings', 'gzip, br', Buffer.from('xyz')],
  ['bytes that are not gzip', 'gzip', Buffer.from('not gzip at all')],
  ['a truncated body', 'gzip', gzipSync(Buffer.from(wholeFor(CHAT))).subarray(0, 40)],
  ['a truncated brotli body', 'br', brotliCompressSync(Buffer.from(wholeFor(CHAT))).subarray(0, 40)],
  ['a truncated zstd body', 'zstd', zstdCompressSync(Buffer.from(wholeFor(CHAT))).subarray(0, 40)],
])('%s is a failure that the caller can see', async (_, coding, body) => {
  for (const stream of [true, false]) {
    const { answer } = await send(CHAT, stream, { ...JSON_TYPE, 'content-encoding': coding }, body);
    expect(answer.whole && answer.status === 200).toBe(false);
  }
});

test('a refusal that cannot be decoded keeps its status', async () => {
  respond = (res) => {
    res.writeHead(503, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    res.end('not gzip');
  };
  const answer = await post(shared.gateway.origin, CHAT, hello);
  expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([503, 'upstream.error']);
});

test('a refusal with a content coding is decoded', async () => {
  respond = (res) => {
    res.writeHead(400, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    res.end(gzipSync('{"error":{"message":"no such tool","code":null}}'));
  };
  const answer = await post(shared.gateway.origin, CHAT, hello);
  expect([answer.status, JSON.parse(answer.body).error.message]).toEqual([400, 'no such tool']);
});
