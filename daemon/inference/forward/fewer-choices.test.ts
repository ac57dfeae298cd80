import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { post } from '../testing/client.ts';
import { BODIES, chunk, MESSAGES, RESPONSES } from '../testing/dialects.ts';
import { CHAT, closeAfterEach, hello, SSE, setUp } from '../testing/forwarding.ts';
import { ChatEventFilter } from './chat-event-filter.ts';

closeAfterEach();

const COMPLETIONS = '/v1/completions';
const JSON_TYPE = { 'content-type': 'application/json' };
const NOTE = ': x-svc-ignored: n\n\n';

const choice = (index: number) => ({
  index,
  message: { role: 'assistant', content: 'a' },
  finish_reason: 'stop',
});
const textChoice = (index: number) => ({ index, text: 'a', finish_reason: 'stop' });
const whole = (count: number) =>
  JSON.stringify({ choices: Array.from({ length: count }, (_, at) => choice(at)) });
const wholeText = (count: number) =>
  JSON.stringify({ choices: Array.from({ length: count }, (_, at) => textChoice(at)) });
const chunks = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    chunk({ choices: [{ index, delta: { content: 'a' }, finish_reason: 'stop' }] }),
  );
const stream = (count: number) => `${chunks(count).join('')}data: [DONE]\n\n`;

type Respond = (res: ServerResponse) => void;
const answering =
  (headers: object, ...parts: string[]): Respond =>
  (res) => {
    res.writeHead(200, { ...headers });
    for (const part of parts.slice(0, -1)) res.write(part);
    res.end(parts.at(-1));
  };
const sized = (body: string): Respond =>
  answering({ ...JSON_TYPE, 'content-length': Buffer.byteLength(body) }, body);

async function query(path: string, body: object, respond: Respond) {
  const { gateway } = await setUp((req, res) => {
    req.resume();
    respond(res);
  });
  const { status, headers, body: text } = await post(gateway.origin, path, body);
  expect(status).toBe(200);
  return { named: headers['x-svc-ignored'], text };
}

const two = { ...hello, n: 2 };
const twoTexts = { model: 'agent', prompt: 'hi', n: 2 };

test.each<[string, string, object, Respond, string | undefined]>([
  ['a chat', CHAT, two, sized(whole(1)), 'n'],
  [
    'a chat without a length',
    CHAT,
    two,
    answering(JSON_TYPE, whole(1).slice(0, 20), whole(1).slice(20)),
    'n',
  ],
  ['a chat of a stream', CHAT, two, answering(SSE, stream(1)), 'n'],
  [
    'after what the engine names itself',
    CHAT,
    two,
    answering({ ...JSON_TYPE, 'x-svc-ignored': 'tools.format:uri' }, whole(1)),
    'tools.format:uri, n',
  ],
  ['a chat of four', CHAT, { ...hello, n: 4 }, sized(whole(3)), 'n'],
  ['a completion', COMPLETIONS, twoTexts, sized(wholeText(1)), 'n'],
  [
    'a completion without a length',
    COMPLETIONS,
    twoTexts,
    answering(JSON_TYPE, wholeText(1).slice(0, 9), wholeText(1).slice(9)),
    'n',
  ],
  ['all choices', CHAT, two, sized(whole(2)), undefined],
  ['all choices of a stream', CHAT, two, answering(SSE, stream(2)), undefined],
  ['all choices of a completion', COMPLETIONS, twoTexts, sized(wholeText(2)), undefined],
  ['n: 1', CHAT, { ...hello, n: 1 }, sized(whole(1)), undefined],
  ['n: null', CHAT, { ...hello, n: null }, sized(whole(1)), undefined],
  ['no n', CHAT, hello, sized(whole(1)), undefined],
  ['a message, which has no n', MESSAGES, { ...BODIES[MESSAGES], n: 2 }, sized(whole(1)), undefined],
  ['a response, which has no n', RESPONSES, { ...BODIES[RESPONSES], n: 2 }, sized(whole(1)), undefined],
])('fewer choices than requested are named in a header: %s', async (_, path, body, respond, expected) => {
  expect((await query(path, body, respond)).named).toBe(expected);
});

test.each<[string, object, Respond, boolean]>([
  ['a stream', two, answering(SSE, stream(1)), true],
  ['a complete answer', two, sized(whole(1)), true],
  ['all choices', two, answering(SSE, stream(2)), false],
  ['no n', hello, answering(SSE, stream(1)), false],
])(
  'fewer choices than requested are named in a comment of a stream: %s',
  async (_, body, respond, isNamed) => {
    const { text } = await query(CHAT, { ...body, stream: true }, respond);
    expect(text.endsWith(isNamed ? `${NOTE}data: [DONE]\n\n` : 'data: [DONE]\n\n')).toBe(true);
    expect(text.includes(NOTE)).toBe(isNamed);
  },
);

test('the comment does not depend on how the stream is cut', () => {
  const bytes = Buffer.from(stream(1));
  for (let at = 0; at <= bytes.length; at++) {
    const filter = new ChatEventFilter(false, () => {}, 2);
    const parts = [filter.push(bytes.subarray(0, at)), filter.push(bytes.subarray(at)), filter.end()];
    expect(Buffer.concat(parts).toString()).toBe(stream(1).replace('data: [DONE]', `${NOTE}data: [DONE]`));
  }
});
