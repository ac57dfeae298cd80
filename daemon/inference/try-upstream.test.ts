import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { upstreamCall } from './testing/builders.ts';
import { tryUpstream } from './try-upstream.ts';

/** The chat step of a test of an upstream at `origin` with this response; and what was sent. */
async function tried(origin: string, status: number, answer: unknown) {
  const sent: unknown[] = [];
  const outbound = {
    dispatch(request: { body?: unknown }, handler: Record<string, (...args: unknown[]) => void>) {
      sent.push(JSON.parse(String(request.body)));
      handler.onResponseStart?.(null, status, { 'content-type': 'application/json' });
      handler.onResponseData?.(null, Buffer.from(JSON.stringify(answer)));
      handler.onResponseEnd?.();
    },
  };
  const upstreams = {
    connect: () => upstreamCall({ origin }),
    readList: async () => ({ ok: true, status: 200, message: 'fine' }),
  };
  const trial = { upstream: 'cloud', model: 'gpt', requestId: 'r1', res: new EventEmitter() as never };
  const [, chat] = await tryUpstream({ upstreams, outbound: outbound as never }, trial);
  return { chat, sent };
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
  expect(sent).toEqual([{ model: 'gpt', messages, [field]: 16 }]);
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
