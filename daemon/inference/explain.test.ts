import { describe, expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { LoadForecastView } from '../contract/slots.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { quotaExceeded } from '../upstreams/refusals.ts';
import { NO_UPSTREAMS, type Upstreams } from './ports.ts';
import { upstreamConfigOf } from './testing/builders.ts';
import { post } from './testing/client.ts';
import { CHAT, closeAfterEach, closers } from './testing/forwarding.ts';
import { listen, openGateway, TestSlots } from './testing/gateway.ts';

closeAfterEach();

/** A gateway with an engine that counts its requests. */
async function setUp(slots: TestSlots) {
  let requestCount = 0;
  const engine = await listen((_req, res) => {
    requestCount += 1;
    res.end('{}');
  });
  closers.push(engine.close);
  slots.engine = engine.origin;
  const gateway = await openGateway({ slots });
  closers.push(gateway.close);
  return { gateway, requestCount: () => requestCount };
}

test('explain resolves a request without sending or loading', async () => {
  const slots = new TestSlots([
    slotRecord({ name: 'agent', model: 'qwen', state: 'offline', active: 4, queued: 2 }),
  ]);
  const { gateway, requestCount } = await setUp(slots);
  expect(gateway.inference.explain({ path: CHAT, model: 'agent' })).toEqual({
    path: CHAT,
    model: 'agent',
    steps: [
      { step: 'loaded-slot', outcome: 'failed', reason: 'the requested slot is not loaded' },
      { step: 'registry', outcome: 'matched', reason: 'slot agent has the requested name (offline)' },
      { step: 'upstream-cached', outcome: 'skipped', reason: 'not needed' },
      { step: 'upstream-live', outcome: 'skipped', reason: 'not needed' },
      { step: 'capability-path', outcome: 'skipped', reason: 'not needed' },
    ],
    slot: 'agent',
    upstream: null,
    lane: 'agent',
    would_load: true,
    chat_template: null,
    queue_position: 3,
    conversations: null,
    abandoned: 0,
    speculation: null,
    load: null,
    balance: null,
    after: [],
    skipped: [],
    failover: [],
    fallback: null,
    beyond: null,
    alias: null,
    error: null,
  });
  const sum = { pool: 'host', needed: 5, free: 1, reserved: 0, kept_free: 0, limit: null, held: 4, short: 4 };
  const victims = [{ slot: 'other', bytes: 4, stays: null }];
  const load: LoadForecastView = { outcome: 'evicts', evicts: ['other'], sum: { ...sum, victims } };
  slots.previews.agent = { load, refusal: null };
  expect(gateway.inference.explain({ path: CHAT, model: 'agent' })).toMatchObject({ load, error: null });
  expect(gateway.inference.explain({ path: '/v1/embeddings', body: { model: 'unknown' } })).toMatchObject({
    model: 'unknown',
    slot: null,
    error: { code: 'dispatch.no_route' },
  });
  expect(gateway.inference.explain({ path: '/v1/audio/speech' }).error).toMatchObject({
    code: 'request.missing_model',
  });
  expect(slots.requests).toEqual([]);
  expect(requestCount()).toBe(0);
});

test("a slot name of the path's type refers to that slot", async () => {
  const slots = new TestSlots([
    slotRecord({ name: 'embed', type: 'embedding', model: 'vec-a' }),
    slotRecord({ name: 'embed2', type: 'embedding', model: 'vec-b', state: 'offline' }),
  ]);
  const { gateway } = await setUp(slots);
  expect(gateway.inference.explain({ path: '/v1/embeddings', model: 'embed2' })).toMatchObject({
    slot: 'embed2',
    lane: 'embed2',
    would_load: true,
  });
});

describe('explain shows the outcome', () => {
  const view = (outcome: LoadForecastView['outcome']): LoadForecastView => ({
    outcome,
    evicts: [],
    sum: {
      pool: 'host',
      needed: 5,
      free: 1,
      reserved: 0,
      kept_free: 0,
      limit: null,
      held: 0,
      short: outcome === 'refused' ? 4 : 0,
      victims: [],
    },
  });
  const noMemory = new GatewayError('slot.no_memory');
  const none = { load: view('refused'), refusal: noMemory };
  const chain = () =>
    new TestSlots([
      slotRecord({ name: 'utility', model: 'small', state: 'offline' }),
      slotRecord({ name: 'agent', model: 'large', state: 'offline' }),
    ]);

  test('a chain continues to the slot with enough memory, each with its estimate', async () => {
    const slots = chain();
    const { gateway } = await setUp(slots);
    slots.previews = { utility: none, agent: { load: view('starts'), refusal: null } };
    expect(gateway.inference.explain({ path: CHAT, model: 'svc/utility' })).toMatchObject({
      slot: 'utility',
      load: { outcome: 'refused', sum: { short: 4 } },
      after: [{ slot: 'agent', upstream: null, load: { outcome: 'starts' }, error: null }],
      error: null,
    });
    slots.previews = { utility: none, agent: none };
    expect(gateway.inference.explain({ path: CHAT, model: 'svc/utility' }).error?.code).toBe(
      'slot.no_memory',
    );
    slots.previews = { utility: { load: null, refusal: new GatewayError('slot.draining') } };
    expect(gateway.inference.explain({ path: CHAT, model: 'svc/utility' }).error?.code).toBe('slot.draining');
  });

  test('a slot name has no fallbacks', async () => {
    const slots = chain();
    const { gateway } = await setUp(slots);
    slots.previews = { utility: none };
    expect(gateway.inference.explain({ path: CHAT, model: 'utility' })).toMatchObject({
      slot: 'utility',
      after: [],
      error: { code: 'slot.no_memory' },
    });
  });
});

describe('explain refuses what the real call refuses', () => {
  test.each(['/v1/foo', '/v1/models', '/chat/completions', '/v1/', ''])(
    '%j is not an inference route',
    async (path) => {
      const { gateway } = await setUp(new TestSlots([slotRecord({ name: 'agent' })]));
      expect(() => gateway.inference.explain({ path, model: 'agent' })).toThrow(
        expect.objectContaining({
          code: 'request.invalid',
          options: expect.objectContaining({
            details: { fields: [{ path: 'path', reason: expect.stringContaining('/v1/chat/completions') }] },
          }),
        }),
      );
    },
  );

  test('counting tokens and live voice are dispatched like a chat', async () => {
    const { gateway } = await setUp(new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]));
    for (const path of ['/v1/messages/count_tokens', '/v1/realtime'])
      expect(gateway.inference.explain({ path, model: 'qwen' })).toMatchObject({
        slot: 'agent',
        error: null,
      });
  });

  test('explains an image with a model that is not curated, or without a model', async () => {
    const slots = new TestSlots([
      slotRecord({ name: 'agent', model: 'qwen' }),
      slotRecord({ name: 'img', model: 'sd15', type: 'image', engine: 'sd-server' }),
    ]);
    const { gateway } = await setUp(slots);
    const explained = (model?: string) =>
      gateway.inference.explain({ path: '/v1/images/generations', ...(model ? { model } : {}) });
    expect(explained('nope').error).toMatchObject({
      code: 'image.model_not_curated',
      details: { models: expect.any(Array) },
    });
    expect(explained('agent').error?.code).toBe('image.model_not_curated');
    expect(explained().error).toMatchObject({
      code: 'request.invalid',
      details: { fields: [{ path: 'model' }] },
    });
    expect(explained('a_'.repeat(40_000)).error?.code).toBe('request.invalid');
    expect(explained('img')).toMatchObject({ model: 'img', slot: 'img', error: null });
  });

  test('explains an image with a slot that has another model', async () => {
    const img = slotRecord({ name: 'img', model: 'sd15', type: 'image', engine: 'sd-server' });
    const { gateway } = await setUp(new TestSlots([img]));
    const path = '/v1/images/generations';
    const { status, body } = await post(gateway.origin, path, { model: 'sdxl-turbo', prompt: 'a cat' });
    const { error } = JSON.parse(body) as { error: { code: string; message: string; details: unknown } };
    expect(status).toBe(404);
    const { code, message, details } = error;
    expect(gateway.inference.explain({ path, model: 'sdxl-turbo' }).error).toEqual({
      code,
      message,
      details,
    });
  });

  test('explains an upstream that currently accepts no calls and has no alternative', async () => {
    const full = quotaExceeded(60);
    const upstreams: Upstreams = {
      ...NO_UPSTREAMS,
      list: () => ['one', 'two'].map((name) => upstreamConfigOf({ name, models: ['far'] })),
      refusal: (name) => (name === 'one' ? full : null),
    };
    const gateway = await openGateway({ slots: new TestSlots([]), upstreams });
    closers.push(gateway.close);
    const error = { code: 'upstream.daily_cap', message: full.message, details: { resets_in_s: 60 } };
    expect(gateway.inference.explain({ path: CHAT, model: 'far' })).toMatchObject({
      upstream: 'one',
      after: [{ upstream: 'two', error: null }],
      error,
    });
    const other = await openGateway({
      slots: new TestSlots([]),
      upstreams: { ...upstreams, refusal: (name) => (name === 'two' ? full : null) },
    });
    closers.push(other.close);
    expect(other.inference.explain({ path: CHAT, model: 'far' })).toMatchObject({
      upstream: 'one',
      after: [],
      skipped: [{ upstream: 'two', reason: full.message }],
      error: null,
    });
  });

  test('names what decided between equal upstreams, and when another one is tried', async () => {
    const upstreams: Upstreams = {
      ...NO_UPSTREAMS,
      list: () => [
        upstreamConfigOf({ name: 'one', models: ['far'], active: 2 }),
        upstreamConfigOf({ name: 'two', models: ['far'], active: 1, weight: 2 }),
        upstreamConfigOf({ name: 'three', models: ['far'], priority: 1 }),
        upstreamConfigOf({ name: 'four', models: ['far'], isBusy: true }),
        upstreamConfigOf({ name: 'five', models: ['far'], isHealthy: false }),
      ],
    };
    const gateway = await openGateway({ slots: new TestSlots([]), upstreams });
    closers.push(gateway.close);
    expect(gateway.inference.explain({ path: CHAT, model: 'far' })).toMatchObject({
      upstream: 'two',
      balance: {
        rule: 'active',
        upstreams: [
          { name: 'one', active: 2, weight: 1, loaded: null },
          { name: 'two', active: 1, weight: 2, loaded: null },
        ],
      },
      after: [{ upstream: 'one' }, { upstream: 'three' }, { upstream: 'four' }],
      skipped: [{ upstream: 'five' }],
      failover: ['connection_failed', 'busy', 'not_responding'],
    });
  });

  test('a full queue has no position left', async () => {
    const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen', active: 4, queued: 2 })]);
    const engine = await listen((_req, res) => res.end('{}'));
    const gateway = await openGateway({ slots, settings: { queueMax: 2 } });
    closers.push(engine.close, gateway.close);
    const full = gateway.inference.explain({ path: CHAT, model: 'agent' });
    expect(full).toMatchObject({
      slot: 'agent',
      queue_position: 0,
      error: { code: 'slot.queue_full', details: { slot: 'agent', position: 3 } },
    });
    slots.records = [slotRecord({ name: 'agent', model: 'qwen', active: 4, queued: 1 })];
    const waits = gateway.inference.explain({ path: CHAT, model: 'agent' });
    expect(waits).toMatchObject({ queue_position: 2, error: null });
  });

  test('the error keeps its details', async () => {
    const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]);
    const { gateway } = await setUp(slots);
    expect(gateway.inference.explain({ path: CHAT, model: 'agnet' }).error?.details).toEqual({
      suggestions: ['agent'],
    });
  });
});
