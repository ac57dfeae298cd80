import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import type { ReadyOptions } from '../slots/lifecycle/lease.ts';
import { post } from './testing/client.ts';
import { CHAT, closeAfterEach, closers } from './testing/forwarding.ts';
import { listen, openGateway, TestSlots } from './testing/gateway.ts';

closeAfterEach();

const EVENT =
  'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** A gateway whose slot `agent` fails to load; `utility` is its fallback. */
async function setUp(fail: (options: ReadyOptions) => Promise<never>) {
  const slots = new TestSlots([
    slotRecord({ name: 'agent', model: 'big' }),
    slotRecord({ name: 'utility', model: 'small' }),
  ]);
  slots.before = (name, options) => (name === 'agent' ? fail(options) : undefined);
  const engine = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(EVENT);
  });
  closers.push(engine.close);
  slots.engine = engine.origin;
  const settings = { fallbacks: { big: ['small'] }, fallbacksEnabled: true };
  const gateway = await openGateway({ slots, settings });
  closers.push(gateway.close);
  return { gateway, slots };
}

const body = JSON.stringify({ model: 'big', messages: [{ role: 'user', content: 'hi' }], stream: true });

test.each(['slot.no_memory', 'slot.failed', 'slot.queue_full'] as const)(
  '%s of a slot leads to its fallback',
  async (code) => {
    const { gateway, slots } = await setUp(() => Promise.reject(new GatewayError(code)));
    const { status, headers } = await post(gateway.origin, CHAT, body);
    expect([status, headers['x-svc-fallback'], headers['x-svc-slot']]).toEqual([200, 'small', 'utility']);
    expect(slots.requests.filter((name) => name === 'utility')).toHaveLength(1);
  },
);

test('a stream that has begun names the fallback in a comment', async () => {
  const { gateway } = await setUp(async ({ onDecided }) => {
    onDecided?.();
    await new Promise((done) => setTimeout(done, 3_300));
    throw new GatewayError('slot.failed');
  });
  const { status, headers, body: text } = await post(gateway.origin, CHAT, body);
  expect([status, headers['x-svc-fallback']]).toEqual([200, undefined]);
  expect(text).toMatch(
    /^: loading\n\n(: [^\n]*\n\n)*: x-svc-fallback: small\n\n(: [^\n]*\n\n)*data: .*\[DONE\]\n\n$/s,
  );
});

test('a translated stream that has begun cannot name it and ends with the error', async () => {
  const { gateway, slots } = await setUp(async ({ onDecided }) => {
    onDecided?.();
    await new Promise((done) => setTimeout(done, 3_300));
    throw new GatewayError('slot.failed');
  });
  const request = { model: 'big', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'hi' }] };
  const { body: text } = await post(gateway.origin, '/v1/messages', JSON.stringify(request));
  expect(text).toContain('event: error');
  expect(slots.requests).not.toContain('utility');
});
