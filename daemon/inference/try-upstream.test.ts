import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { upstreamCall } from './testing/builders.ts';
import { tryUpstream } from './try-upstream.ts';

/** The chat step of a test of an upstream at `origin` with this response; and what was sent. */
async function tried(
  origin: string,
  status: number,
  answer: unknown,
  streamed?: { status: number; text: string },
) {
  const sent: unknown[] = [];
  const outbound = {
    dispatch(request: { body?: unknown }, handler: Record<string, (...args: unknown[]) => void>) {
      const body = JSON.parse(String(request.body));
      sent.push(body);
      const isStream = body.stream === true && streamed !== undefined;
      const type = isStream && streamed.status === 200 ? 'text/event-stream' : 'application/json';
      handler.onResponseStart?.(null, isStream ? streamed.status : status, { 'content-type': type });
      handler.onResponseData?.(null, Buffer.from(isStream ? streamed.text : JSON.stringify(answer)));
      handler.onResponseEnd?.();
    },
  };
  const upstreams = {
    connect: () => upstreamCall({ origin }),
    readList: async () => ({ ok: true, status: 200, message: 'fine' }),
  };
  const trial = { upstream: 'cloud', model: 'gpt', requestId: 'r1', res: new EventEmitter() as never };
  const [, chat, stream] = await tryUpstream({ upstreams, outbound: outbound as never }, trial);
  return { chat, stream, sent };
}

const good = { choices: [{ message: { content: 'ok' } }] };

test.each([
  ['https://api.openai.com', 'max_completion_tokens'],
  ['https://me.openai.azure.com', 'max_completion_tokens'],
  ['https://api.groq.com', 'max_tokens'],
])('%s is called with %s, and with enough tokens for a thinking model', async (origin, field) => {
  const { chat, sent } = await tried(origin, 200, good);
  expect(chat).toMatchObject({ ok: true });
  const messages = [{ role: 'user', content: 'Say ok.' }];
  const streaming = { stream: true, stream_options: { include_usage: true } };
  const body = { model: 'gpt', messages, [field]: 16 };
  expect(sent).toEqual([body, { ...body, ...streaming }]);
});

const reached =
  'Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.';

test.each([
  [400, { error: { message: reached, type: 'invalid_request_error', param: null, code: null } }, true],
  [400, { error: { message: reached, code: 400 } }, true],
  [400, { error: { message: 'no such model', code: null } }, false],
  [500, { error: { message: reached, code: null } }, false],
])('%i %j is a valid response: %s', async (status, body, ok) => {
  expect((await tried('https://api.openai.com', status, body)).chat).toMatchObject({ ok, status });
});

const EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n';
const COUNTS = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\n';
const DONE = 'data: [DONE]\n\n';

test.each([
  ['counts', 200, `${EVENT}${COUNTS}${DONE}`, true, 'with token counts'],
  ['no counts', 200, `${EVENT}${DONE}`, true, 'without token counts'],
  [
    'a refusal',
    400,
    '{"error":{"message":"Unknown field: stream_options","code":null}}',
    true,
    'Set stream_usage = false',
  ],
  ['another refusal', 422, '{"detail":"include_usage is not supported"}', true, 'Set stream_usage = false'],
  ['another error', 400, '{"error":{"message":"no streams here","code":null}}', false, 'no streams here'],
  ['an error event', 200, 'data: {"error":{"message":"out of memory"}}\n\n', false, 'out of memory'],
])('a stream with %s', async (_, status, text, ok, message) => {
  const stream = (await tried('https://desk.lan', 200, good, { status, text })).stream;
  expect(stream).toMatchObject({ step: 'stream', ok, status });
  expect(stream?.message).toContain(message);
});
