import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post } from '../testing/client.ts';
import { BODIES, chunk, finish, MESSAGES, RESPONSES } from '../testing/dialects.ts';
import { CHAT, closeAfterEach, closers, delta, hello, SSE } from '../testing/forwarding.ts';
import { listen, openGateway, TestSlots } from '../testing/gateway.ts';

closeAfterEach();

const COMPLETIONS = '/v1/completions';
const MODEL = 'far-model';

/** A gateway with one upstream, and the bodies that it received. */
async function withUpstream(handler: RequestListener, streamUsage = true) {
  const received: Record<string, unknown>[] = [];
  const upstream = await listen(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    received.push(JSON.parse(Buffer.concat(parts).toString()));
    handler(req, res);
  });
  closers.push(upstream.close);
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'far', models: [MODEL], remote: false })],
    connect: () => upstreamCall({ origin: upstream.origin, remote: false, streamUsage }),
  };
  const gateway = await openGateway({ slots: new TestSlots([]), upstreams });
  closers.push(gateway.close);
  return { gateway, received };
}

const USAGE = { prompt_tokens: 11, completion_tokens: 22 };
const USAGE_EVENT = chunk({ choices: [], usage: USAGE });
const DONE = 'data: [DONE]\n\n';
const answering =
  (...events: string[]): RequestListener =>
  (_, res) => {
    res.writeHead(200, SSE);
    res.end(events.join(''));
  };
const counted = { prompt_tokens: 11, completion_tokens: 22, error: null };
const chat = { ...hello, model: MODEL, stream: true };

test.each([
  ['at the end', [delta('a'), finish('stop'), USAGE_EVENT, DONE]],
  ['before the finish reason', [delta('a'), USAGE_EVENT, finish('stop'), DONE]],
  [
    'with null in every other event',
    [delta('a').replace('}]}', '}],"usage":null}'), finish('stop'), USAGE_EVENT, DONE],
  ],
  [
    'with CRLF',
    [delta('a'), finish('stop'), USAGE_EVENT, DONE].map((event) => event.replaceAll('\n', '\r\n')),
  ],
  [
    'in several',
    [delta('a'), chunk({ choices: [], usage: { prompt_tokens: 11 } }), finish('stop'), USAGE_EVENT, DONE],
  ],
])('the usage event that the gateway requested %s is counted and removed', async (_, events) => {
  const { gateway, received } = await withUpstream(answering(...events));
  const { body } = await post(gateway.origin, CHAT, chat);
  expect(received).toMatchObject([{ stream_options: { include_usage: true } }]);
  const isUsage = (event: string) => event.includes('"choices":[]');
  expect(body).toBe(events.filter((event) => !isUsage(event)).join(''));
  expect(gateway.log).toMatchObject([counted]);
});

test('the usage event that the caller requested stays', async () => {
  const events = [delta('a'), finish('stop'), USAGE_EVENT, DONE];
  const { gateway } = await withUpstream(answering(...events));
  const { body } = await post(gateway.origin, CHAT, { ...chat, stream_options: { include_usage: true } });
  expect(body).toBe(events.join(''));
  expect(gateway.log).toMatchObject([counted]);
});

test('token counts in an event with choices stay', async () => {
  const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
  const { gateway } = await withUpstream(answering(delta('a'), last, DONE));
  expect((await post(gateway.origin, CHAT, chat)).body).toBe(delta('a') + last + DONE);
  expect(gateway.log).toMatchObject([counted]);
});

test('a completion is counted like a chat', async () => {
  const text = chunk({ choices: [{ index: 0, text: 'a', finish_reason: 'stop' }] });
  const { gateway, received } = await withUpstream(answering(text, USAGE_EVENT, DONE));
  const { body } = await post(gateway.origin, COMPLETIONS, { model: MODEL, prompt: 'a', stream: true });
  expect(body).toBe(text + DONE);
  expect(received).toMatchObject([{ stream_options: { include_usage: true } }]);
  expect(gateway.log).toMatchObject([counted]);
});

test('a complete answer instead of a stream is counted, without a usage event', async () => {
  const message = { role: 'assistant', content: 'a' };
  const { gateway } = await withUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }));
  });
  const { body } = await post(gateway.origin, CHAT, chat);
  expect(body).not.toContain('"choices":[]');
  expect(gateway.log).toMatchObject([counted]);
});

test('an upstream with stream_usage = false gets no stream_options', async () => {
  const { gateway, received } = await withUpstream(
    answering(delta('a'), finish('stop'), USAGE_EVENT, DONE),
    false,
  );
  expect((await post(gateway.origin, CHAT, chat)).body).toContain(USAGE_EVENT);
  expect(received[0]).not.toHaveProperty('stream_options');
});

test('a slot whose engine counts on request only gets stream_options, and none after it refused them', async () => {
  const received: Record<string, unknown>[] = [];
  let refuses = false;
  const engine = await listen(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
    received.push(body);
    if (refuses && 'stream_options' in body) {
      res.writeHead(400, { 'content-type': 'application/json' });
      const error = {
        message: 'Unknown parameter: stream_options',
        type: 'invalid_request_error',
        code: null,
      };
      res.end(JSON.stringify({ error: { ...error, param: 'stream_options' } }));
    } else answering(delta('a'), finish('stop'), USAGE_EVENT, DONE)(req, res);
  });
  closers.push(engine.close);
  const slots = new TestSlots([slotRecord({ name: 'agent', model: MODEL })]);
  slots.engine = engine.origin;
  const gateway = await openGateway({ slots });
  closers.push(gateway.close);
  await post(gateway.origin, CHAT, chat);
  expect(received.at(-1)).not.toHaveProperty('stream_options');
  slots.dialect = { streamUsage: true };
  const { body } = await post(gateway.origin, CHAT, chat);
  expect(received.at(-1)).toMatchObject({ stream_options: { include_usage: true } });
  expect(body).toBe(delta('a') + finish('stop') + DONE);
  refuses = true;
  expect((await post(gateway.origin, CHAT, chat)).body).toContain('[DONE]');
  expect(received.at(-1)).not.toHaveProperty('stream_options');
  expect(gateway.log).toMatchObject([counted, counted, counted]);
});

test.each([MESSAGES, RESPONSES] as const)('%s: the counts are in the last event', async (path) => {
  const { gateway } = await withUpstream(answering(delta('a'), finish('stop'), USAGE_EVENT, DONE));
  const { body } = await post(gateway.origin, path, { ...BODIES[path], model: MODEL, stream: true });
  expect(body).toMatch(/"input_tokens":11[\s\S]*"output_tokens":22/);
  expect(gateway.log).toMatchObject([counted]);
});
