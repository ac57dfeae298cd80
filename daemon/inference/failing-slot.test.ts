import { expect, test } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { failedError, noModelError } from '../slots/refusals.ts';
import { post, readAll, send } from './testing/client.ts';
import { CHAT, closeAfterEach, SSE, setUp } from './testing/forwarding.ts';
import type { TestSlots } from './testing/gateway.ts';

closeAfterEach();

const hello = { model: 'qwen', messages: [{ role: 'user', content: 'hi' }] };
const slotOf = (name: string, state: 'offline' | 'ready' | 'error' = 'offline', model = 'qwen') =>
  slotRecord({ name, model, state });

const start = async (...records: TestSlots['records']) => {
  const running = await setUp((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"ok":true}');
  });
  running.slots.records = records;
  return running;
};

/** The named slots fail when a request loads them. */
const failLoads = (slots: TestSlots, ...names: string[]) => {
  slots.before = (name) => {
    if (!names.includes(name)) return;
    slots.records = slots.records.map((slot) => (slot.name === name ? { ...slot, state: 'error' } : slot));
    const failure = { failures: 1, parked: false, retryAt: 5_000, failedAt: 0, lackedMemory: false };
    throw failedError(name, { reason: `${name} broke`, ...failure }, 0);
  };
};

test.each([
  ['by its model', 'qwen', [slotOf('agent'), slotOf('other')], 'other'],
  ['by the name of the slot', 'agent', [slotOf('agent'), slotOf('other')], 'other'],
  ['by a virtual name', 'svc/agent', [slotOf('agent'), slotOf('other')], 'other'],
  [
    'whose sibling is loaded in the meantime',
    'agent',
    [slotOf('agent'), slotOf('b'), slotOf('c', 'ready')],
    'c',
  ],
  [
    'with siblings of which one has failed',
    'agent',
    [slotOf('agent'), slotOf('b', 'error'), slotOf('c')],
    'c',
  ],
])('the first caller of a failing slot %s is served by a healthy sibling', async (_, model, records, by) => {
  const { gateway, slots } = await start(...records);
  failLoads(slots, 'agent');
  const answer = await post(gateway.origin, CHAT, { ...hello, model });
  expect(answer).toMatchObject({ status: 200, body: '{"ok":true}' });
  expect(answer.headers).toMatchObject({ 'x-svc-slot': by, 'x-svc-model': 'qwen' });
  expect(slots.requests).toEqual(['agent', by]);
  expect([slots.leased, slots.released]).toEqual([1, 1]);
  expect(gateway.log).toMatchObject([{ status: 200, slot: by }]);
});

test('the request continues until a sibling serves it', async () => {
  const { gateway, slots } = await start(slotOf('agent'), slotOf('b'), slotOf('c'));
  failLoads(slots, 'agent', 'b');
  const answer = await post(gateway.origin, CHAT, { ...hello, model: 'agent' });
  expect([answer.status, answer.headers['x-svc-slot']]).toEqual([200, 'c']);
  expect(slots.requests).toEqual(['agent', 'b', 'c']);
});

test.each([
  ['there is no other slot', [slotOf('agent')], ['agent']],
  ['the other slot has another model', [slotOf('agent'), slotOf('other', 'ready', 'llama')], ['agent']],
  ['every sibling fails', [slotOf('agent'), slotOf('b')], ['agent', 'b']],
])('the caller gets the failure of the slot, once, when %s', async (_, records, requests) => {
  const { gateway, slots } = await start(...records);
  failLoads(slots, 'agent', 'b');
  const answer = await post(gateway.origin, CHAT, { ...hello, model: 'agent' });
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).error).toMatchObject({
    code: 'slot.failed',
    message: 'Slot agent failed: agent broke. Next attempt in 5 s.',
  });
  expect(slots.requests).toEqual(requests);
});

test('a slot without a model is not tried twice', async () => {
  const { gateway, slots } = await start(slotOf('agent'));
  slots.before = () => {
    throw noModelError('agent', 'no model is installed.');
  };
  expect((await post(gateway.origin, CHAT, hello)).status).toBe(409);
  expect(slots.requests).toEqual(['agent']);
});

test('a stream that has waited for the failed load is served by the sibling', async () => {
  const { gateway, slots } = await setUp((_req, res) => {
    res.writeHead(200, SSE);
    res.end('data: [DONE]\n\n');
  });
  slots.records = [slotOf('agent'), slotOf('other')];
  const { promise: commentSent, resolve } = Promise.withResolvers<void>();
  failLoads(slots, 'agent');
  const fail = slots.before;
  slots.before = async (name, options) => {
    if (name !== 'agent') return;
    options.onDecided?.();
    await commentSent;
    await fail(name, options);
  };
  const head = await send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
  resolve();
  expect(await readAll(head)).toMatchObject({
    status: 200,
    whole: true,
    body: ': loading\n\ndata: [DONE]\n\n',
  });
});
