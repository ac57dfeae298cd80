import { describe, expect, test } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { swappedError } from '../slots/refusals.ts';
import { NO_UPSTREAMS, type Upstreams } from './ports.ts';
import { upstreamCall, upstreamConfigOf } from './testing/builders.ts';
import { post, readAll, send } from './testing/client.ts';
import { CHAT, closeAfterEach, SSE, setUp } from './testing/forwarding.ts';
import type { TestSlots } from './testing/gateway.ts';

closeAfterEach();

const hello = { model: 'qwen', messages: [{ role: 'user', content: 'hi' }] };
const OTHER = slotRecord({ name: 'other', model: 'qwen', state: 'offline' });

const start = () =>
  setUp((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"ok":true}');
  });

/** Slot agent has another model when the caller's turn comes; `otherSlots` are the slots at that time. */
const swapAgent = (slots: TestSlots, ...otherSlots: TestSlots['records']) => {
  slots.before = (name) => {
    if (name !== 'agent') return;
    slots.records = [slotRecord({ name: 'agent', model: 'llama' }), ...otherSlots];
    throw swappedError('agent');
  };
};

describe('a caller whose slot got another model while it waited', () => {
  test('and that named the old model is served by the slot that has the model now', async () => {
    const { gateway, slots } = await start();
    swapAgent(slots, OTHER);
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer).toMatchObject({ status: 200, body: '{"ok":true}' });
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'other', 'x-svc-model': 'qwen' });
    expect(slots.requests).toEqual(['agent', 'other']);
    expect([slots.leased, slots.released]).toEqual([1, 1]);
    expect(gateway.log).toMatchObject([{ status: 200, slot: 'other' }]);
  });

  test('and whose slot was removed is also served by another slot', async () => {
    const { gateway, slots } = await start();
    slots.before = (name) => {
      if (name === 'agent') slots.records = [OTHER];
    };
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer).toMatchObject({ status: 200, body: '{"ok":true}' });
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'other' });
    expect(slots.requests).toEqual(['agent', 'other']);
  });

  test('gets an error when no slot has the model any more', async () => {
    const { gateway, slots } = await start();
    swapAgent(slots);
    const { status, body } = await post(gateway.origin, CHAT, hello);
    expect([status, JSON.parse(body).error.code]).toEqual([404, 'dispatch.no_route']);
  });

  test('repeatedly gets a retryable error after a bounded number of attempts', async () => {
    const { gateway, slots } = await start();
    slots.before = () => {
      throw swappedError('agent');
    };
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer).toMatchObject({ status: 503 });
    expect(answer.headers['retry-after']).toBe('1');
    expect(slots.requests).toHaveLength(4);
  });

  test('is sent to an upstream with the model, with its name only', async () => {
    const { gateway, slots } = await withUpstream((_req, res) => res.end('{"ok":true}'));
    swapAgent(slots);
    const answer = await post(gateway.origin, CHAT, hello);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-svc-upstream': 'cloud', 'x-svc-model': 'qwen' });
    expect(answer.headers['x-svc-slot']).toBeUndefined();
  });

  test('gets the stream although comments have been sent already', async () => {
    const { gateway, slots } = await withUpstream((_req, res) => {
      res.writeHead(200, SSE);
      res.end('data: [DONE]\n\n');
    });
    slots.before = async (_, { onDecided }) => {
      onDecided?.();
      await commentSent;
      slots.records = [];
      throw swappedError('agent');
    };
    const { promise: commentSent, resolve } = Promise.withResolvers<void>();
    const head = await send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    resolve();
    expect(await readAll(head)).toMatchObject({
      status: 200,
      whole: true,
      body: ': loading\n\ndata: [DONE]\n\n',
    });
  });
});

test('a caller that named a slot is logged with its current model', async () => {
  const { gateway, slots } = await start();
  slots.before = () => {
    slots.records = [slotRecord({ name: 'agent', model: 'llama' })];
  };
  const answer = await post(gateway.origin, CHAT, { ...hello, model: 'agent' });
  expect(answer.headers['x-svc-model']).toBe('llama');
  expect(gateway.log).toMatchObject([{ slot: 'agent', model: 'llama', asked: 'agent' }]);
});

/** A gateway with slot agent, and the upstream `cloud` that lists its model too. */
async function withUpstream(handler: Parameters<typeof setUp>[0]) {
  const cloud = await setUp(handler);
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', models: ['qwen'] })],
    connect: () => upstreamCall({ origin: cloud.engine.origin }),
  };
  return setUp(() => {}, { upstreams });
}
