import { describe, expect, test } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NO_UPSTREAMS } from '../ports.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { NO_NAMES } from './configured-names.ts';
import { dispatch, refusal, resolve, STEPS } from './dispatch.ts';
import { modelOmitted } from './model-omitted.ts';
import { plainModelRef } from './model-ref.ts';
import { pathRow } from './paths.ts';
import { registry } from './registry.ts';
import { createRoutingView, type RoutingView } from './routing-view.ts';

function requestFor(path: string, model: string | null, on: RoutingView) {
  const { type } = pathRow(path);
  const address = rewriteModelRef(modelOmitted(plainModelRef(model), path, on), on, type);
  return { path, type, modelRef: address };
}
const chat = (model: string | null, on: RoutingView) =>
  resolve(requestFor('/v1/chat/completions', model, on), on);
const slot = (name: string, model: string | null, more: Partial<SlotRecord> = {}) =>
  slotRecord({ name, model, ...more });

test('the steps are in the order of the specification', () => {
  expect(STEPS.map(({ name }) => name)).toEqual([
    'loaded-slot',
    'registry',
    'upstream-cached',
    'upstream-live',
    'capability-path',
  ]);
});

describe('step 1, loaded slot', () => {
  test('the loaded one wins over the bound one', () => {
    const on = routingView({
      slots: [slot('a', 'm', { state: 'offline' }), slot('b', 'm')],
      models: [registeredModel({ id: 'm', binding: 'slot:a' })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'loaded-slot', target: { slot: 'b' } });
  });
  test('ready, then under memory pressure, then degraded; among equals the shorter queue', () => {
    const busy = slot('busy', 'm', { state: 'serving', active: 4, queued: 1 });
    const degraded = slot('degraded', 'm', { degraded: 'cpu' });
    const some = slot('some', 'm', { state: 'serving', active: 2 });
    const idle = slot('idle', 'm');
    const order = [degraded, busy, some, idle];
    for (const expected of ['idle', 'some', 'busy', 'degraded']) {
      expect(chat('m', routingView({ slots: order })).target).toMatchObject({ slot: expected });
      order.splice(
        order.findIndex(({ name }) => name === expected),
        1,
      );
    }
  });
  test('ids are compared exactly', () => {
    expect(chat('M', routingView({ slots: [slot('a', 'm')] })).target).toBeNull();
  });
});

describe('lane pin', () => {
  const first = slot('first', 'm');
  const second = slot('second', 'm', { active: 3, state: 'serving' });
  test('keeps the named slot when two share a model id', () => {
    const on = routingView({ slots: [first, second] });
    expect(chat('second', on).target).toMatchObject({ slot: 'second' });
    expect(chat('m', on).target).toMatchObject({ slot: 'first' });
  });
  test('a pinned slot that is not loaded is loaded, not replaced', () => {
    const on = routingView({ slots: [first, { ...second, state: 'offline' }] });
    expect(chat('second', on)).toMatchObject({ step: 'registry', target: { slot: 'second' } });
  });
  test('a pinned slot in ERROR is replaced by a healthy sibling with the same model', () => {
    const on = routingView({ slots: [first, { ...second, state: 'error' }] });
    expect(chat('second', on)).toMatchObject({ step: 'loaded-slot', target: { slot: 'first' } });
    const cold = routingView({
      slots: [
        { ...first, state: 'offline' },
        { ...second, state: 'error' },
      ],
    });
    expect(chat('second', cold)).toMatchObject({ step: 'registry', target: { slot: 'first' } });
  });
  test('a slot that was removed since its name was read leads nowhere, whatever its name', () => {
    const before = routingView({ slots: [slot('embed-2', 'm', { state: 'offline' })] });
    const request = requestFor('/v1/embeddings', 'embed-2', before);
    const on = routingView({ slots: [slot('embed', 'e5', { type: 'embedding' })] });
    const found = resolve(request, on);
    expect(found.target).toBeNull();
    expect(found.trace.map(({ outcome }) => outcome)).toMatchObject([
      { reason: 'the requested slot is not loaded' },
      { reason: 'slot embed-2 is gone' },
      {},
      {},
      { reason: 'the request names a slot' },
    ]);
  });
  test('a slot in ERROR without a model has no sibling', () => {
    const broken = slot('second', null, { state: 'error' });
    const on = routingView({ slots: [slot('first', null), broken] });
    expect(chat('second', on)).toMatchObject({ step: 'registry', target: { slot: 'second' } });
  });
  test('without a sibling the slot decides', () => {
    const on = routingView({ slots: [slot('second', 'm', { state: 'error' })] });
    expect(chat('second', on)).toMatchObject({ step: 'registry', target: { slot: 'second' } });
  });
  test('a slot without a model is still the named one', () => {
    const on = routingView({ slots: [slotRecord({ name: 'agent', model: null, state: 'offline' })] });
    expect(chat('agent', on)).toMatchObject({ target: { slot: 'agent', model: null } });
  });
  test('never resolves to an upstream that happens to list the model', () => {
    const on = routingView({
      slots: [slot('agent', 'm', { state: 'offline' })],
      upstreams: [upstreamConfigOf({ name: 'u', models: ['m'] })],
    });
    expect(chat('agent', on).target).toMatchObject({ kind: 'slot', slot: 'agent' });
  });
});

describe('step 2, registry', () => {
  test('the binding names the slot that is loaded', () => {
    const on = routingView({
      slots: [slot('auto-m', 'm', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'slot:auto-m' })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { slot: 'auto-m' } });
  });
  test('a binding to a slot in ERROR falls through to a healthy sibling', () => {
    const on = routingView({
      slots: [slot('a', 'm', { state: 'error' }), slot('b', 'm', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'slot:a' })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { slot: 'b' } });
  });
  test('a binding to an upstream', () => {
    const on = routingView({
      models: [registeredModel({ id: 'm', binding: 'upstream:u' })],
      upstreams: [upstreamConfigOf({ name: 'u' })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { kind: 'upstream', upstream: 'u' } });
  });
  test('the reason names the state of a slot that is not loaded', () => {
    const request = requestFor('/v1/chat/completions', 'm', routingView());
    const reasonOf = (state: 'ready' | 'offline') => {
      const on = routingView({
        slots: [slot('a', 'm', { state })],
        models: [registeredModel({ id: 'm', binding: 'slot:a' })],
      });
      return registry(request, on);
    };
    expect(reasonOf('ready')).toMatchObject({ reason: 'the model is bound to slot a' });
    expect(reasonOf('offline')).toMatchObject({ reason: 'the model is bound to slot a (offline)' });
  });
  test('a binding to a disabled slot is not followed', () => {
    const on = routingView({ models: [registeredModel({ id: 'm', binding: 'slot:off' })] });
    expect(chat('m', on).target).toBeNull();
  });
});

describe('steps 3 and 4, upstreams', () => {
  test('healthy first, then priority, then name', () => {
    const list = [
      upstreamConfigOf({ name: 'sick', isHealthy: false, models: ['m'] }),
      upstreamConfigOf({ name: 'late', priority: 5, models: ['m'] }),
      upstreamConfigOf({ name: 'b', models: ['m'] }),
      upstreamConfigOf({ name: 'a', models: ['m'] }),
    ];
    for (const expected of ['a', 'b', 'late', 'sick']) {
      const on = routingView({ upstreams: list });
      expect(chat('m', on)).toMatchObject({ step: 'upstream-cached', target: { upstream: expected } });
      list.splice(
        list.findIndex(({ name }) => name === expected),
        1,
      );
    }
  });
  test('a guarded provider ranks behind the own network, but health comes first', () => {
    const near = upstreamConfigOf({ name: 'z', priority: 9, isSpendGuarded: false, models: ['m'] });
    const far = upstreamConfigOf({ name: 'a', models: ['m'] });
    const to = (...upstreams: (typeof near)[]) => chat('m', routingView({ upstreams })).target;
    expect(to(far, near)).toMatchObject({ upstream: 'z' });
    expect(to({ ...far, isSpendGuarded: false }, near)).toMatchObject({ upstream: 'a' });
    expect(to(far, { ...near, isHealthy: false })).toMatchObject({ upstream: 'a' });
  });
  test.each([
    ['/v1/embeddings', 'embed', 'embed'],
    ['/v1/chat/completions', 'agent', 'agent'],
    ['/v1/chat/completions', 'agent-hermes', 'agent'],
    ['/v1/chat/completions', 'svc/agent', 'agent'],
    ['/v1/audio/speech', 'voices', 'voices'],
  ])('%s with the name %s resolves to slot %s, regardless of upstreams', (path, model, expected) => {
    const slots = [
      slot('agent', 'm', { state: 'offline' }),
      slot('embed', 'e5', { type: 'embedding', state: 'offline' }),
      slot('voices', 'v', { type: 'tts', state: 'offline' }),
    ];
    const names = ['agent', 'agent-hermes', 'svc/agent', 'embed', 'voices'];
    const on = routingView({
      slots,
      upstreams: [upstreamConfigOf({ name: 'u', isCold: true, models: names })],
    });
    expect(resolve(requestFor(path, model, on), on).target).toMatchObject({ kind: 'slot', slot: expected });
  });
  test('the name of a missing slot resolves to an upstream that lists it, but svc/ and the legacy alias do not', () => {
    const upstreams = [upstreamConfigOf({ name: 'u', models: ['coder', 'agent-hermes'] })];
    const on = routingView({ upstreams });
    expect(chat('coder', on).target).toMatchObject({ upstream: 'u' });
    expect(chat('agent-hermes', on).target).toBeNull();
    expect(() => chat('svc/coder', on)).toThrowError(expect.objectContaining({ code: 'dispatch.no_route' }));
  });
  test('the registry binds a model to an upstream, above a slot file and other upstreams', () => {
    const on = routingView({
      slots: [slot('a', 'm', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'upstream:b' })],
      upstreams: [
        upstreamConfigOf({ name: 'a', models: ['m'] }),
        upstreamConfigOf({ name: 'b', isHealthy: false }),
      ],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { upstream: 'b', model: 'm' } });
    const withoutSlot = routingView({
      ...on,
      slots: [],
      upstreams: [upstreamConfigOf({ name: 'a', models: ['m'] })],
    });
    expect(chat('m', withoutSlot)).toMatchObject({ step: 'upstream-cached', target: { upstream: 'a' } });
  });
  test('the registry also binds a model whose slot has its id as name', () => {
    const on = routingView({
      slots: [slot('m', 'm', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'upstream:u' })],
      upstreams: [upstreamConfigOf({ name: 'u' })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { upstream: 'u', model: 'm' } });
  });
  test('a model whose upstream is missing or disabled is served locally', () => {
    const on = routingView({
      slots: [slot('here', 'm', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'upstream:gone' })],
      upstreams: [upstreamConfigOf({ name: 'a', models: ['m'] })],
    });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { slot: 'here', model: 'm' } });
  });
  test('a model is not served by a slot of its name with another model', () => {
    const swapped = slot('m', 'other');
    const models = [registeredModel({ id: 'm' }), registeredModel({ id: 'other' })];
    const on = routingView({ slots: [swapped, slot('m-2', 'm', { state: 'offline' })], models });
    expect(chat('m', on)).toMatchObject({ step: 'registry', target: { slot: 'm-2', model: 'm' } });
    expect(chat('svc/m', on).target).toMatchObject({ slot: 'm' });
    expect(chat('m', routingView({ slots: [swapped], models })).target).toBeNull();
    const upstreams = [upstreamConfigOf({ name: 'u', models: ['m'] })];
    expect(chat('m', routingView({ slots: [swapped], models, upstreams })).target).toMatchObject({
      upstream: 'u',
    });
  });
  test('a binding to a slot that holds another model does not resolve to that model', () => {
    const on = routingView({
      slots: [slot('a', 'other', { state: 'offline' })],
      models: [registeredModel({ id: 'm', binding: 'slot:a' })],
    });
    expect(chat('m', on).target).toBeNull();
  });
  test('cold lists are read once, then step 3 is repeated', async () => {
    const cold = routingView({ upstreams: [upstreamConfigOf({ name: 'u', isCold: true })] });
    const warm = routingView({
      upstreams: [upstreamConfigOf({ name: 'u', models: ['m'] })],
      coldListsFetched: true,
    });
    let reads = 0;
    const refresh = async () => {
      reads++;
      return warm;
    };
    expect(await dispatch(requestFor('/v1/chat/completions', 'm', cold), cold, refresh)).toMatchObject({
      step: 'upstream-live',
      target: { upstream: 'u' },
    });
    expect(reads).toBe(1);
    const refreshed = { ...cold, coldListsFetched: true };
    const decision = dispatch(requestFor('/v1/chat/completions', 'm', cold), cold, async () => refreshed);
    await expect(decision).rejects.toMatchObject({ code: 'dispatch.no_route' });
  });
  test('without cold upstreams nothing is awaited', () => {
    const on = routingView({ slots: [slot('a', 'm')] });
    const decided = dispatch(requestFor('/v1/chat/completions', 'm', on), on, () =>
      Promise.reject(new Error('unexpected refresh')),
    );
    expect(decided).toMatchObject({ step: 'loaded-slot' });
  });
});

describe('the name of a slot on the routes of its type', () => {
  const pairs = [
    slot('embed', 'vec-a', { type: 'embedding' }),
    slot('embed2', 'vec-b', { type: 'embedding' }),
    slot('rerank', 'rank-a', { type: 'rerank' }),
    slot('rerank2', 'rank-b', { type: 'rerank' }),
    slot('tts', 'voice-a', { type: 'tts' }),
    slot('tts2', null, { type: 'tts' }),
    slot('stt', 'ears-a', { type: 'stt' }),
    slot('stt2', 'ears-b', { type: 'stt' }),
  ];
  const rows: [string, string][] = [
    ['/v1/embeddings', 'embed2'],
    ['/v1/rerank', 'rerank2'],
    ['/v1/audio/speech', 'tts2'],
    ['/v1/audio/transcriptions', 'stt2'],
  ];
  test.each(rows)('%s with %s resolves to that slot, loaded or not', (path, name) => {
    for (const [state, step] of [
      ['offline', 'registry'],
      ['ready', 'loaded-slot'],
    ] as const) {
      const on = routingView({
        slots: pairs.map((each) => (each.name === name ? { ...each, state } : each)),
      });
      expect(resolve(requestFor(path, name, on), on)).toMatchObject({ step, target: { slot: name } });
    }
  });
});

describe('step 5, capability and path', () => {
  const on = routingView({
    slots: [
      slot('agent', 'chat-1'),
      slot('embed', 'e5', { type: 'embedding' }),
      slot('rerank', 'bge', { type: 'rerank' }),
      slot('tts', 'voice', { type: 'tts' }),
      slot('stt', 'ears', { type: 'stt' }),
      slot('img', 'pics', { type: 'image' }),
    ],
  });
  test.each([
    ['/v1/embeddings', 'unknown', 'embed'],
    ['/v1/rerankings', 'unknown', 'rerank'],
    ['/v1/rerank', 'unknown', 'rerank'],
    ['/v1/reranking', 'unknown', 'rerank'],
    ['/v1/audio/speech', 'tts-1', 'tts'],
    ['/v1/audio/transcriptions', 'whisper-1', 'stt'],
    ['/v1/images/generations', 'unknown', 'img'],
  ])('%s with %s resolves to slot %s', (path, model, expected) => {
    expect(resolve(requestFor(path, model, on), on)).toMatchObject({
      step: 'capability-path',
      target: { slot: expected },
    });
  });
  test.each([
    ['my-Embed-model', 'embed'],
    ['a-rerank-b', 'rerank'],
    ['SDXL-turbo', 'img'],
    ['flux.1', 'img'],
  ])('the name %s resolves to slot %s, which cannot chat', (model, expected) => {
    const question = requestFor('/v1/chat/completions', model, on);
    const found = resolve(question, on);
    expect(found.target).toMatchObject({ slot: expected });
    expect(refusal(question, on, found)).toMatchObject({ code: 'dispatch.capability_mismatch', status: 409 });
  });
  test('an unknown chat model is never another model', () => {
    const question = requestFor('/v1/chat/completions', 'chat-2', on);
    expect(refusal(question, on, resolve(question, on))).toMatchObject({
      code: 'dispatch.no_route',
      status: 404,
      options: { details: { suggestions: expect.arrayContaining(['chat-1']) } },
    });
  });
});

describe('model omitted: the path decides', () => {
  const on = routingView({ slots: [slot('agent', 'm'), slot('embed', 'e5', { type: 'embedding' })] });
  test.each([
    ['/v1/chat/completions', 'agent'],
    ['/v1/completions', 'agent'],
    ['/v1/responses', 'agent'],
    ['/v1/embeddings', 'embed'],
  ])('%s resolves to %s', (path, expected) => {
    expect(resolve(requestFor(path, null, on), on).target).toMatchObject({ slot: expected });
  });
  test('a slot that does not exist is 404, a route that requires a model 400', () => {
    expect(() => requestFor('/v1/rerank', null, on)).toThrowError(
      expect.objectContaining({ code: 'dispatch.no_route' }),
    );
    for (const path of ['/v1/audio/speech', '/v1/audio/transcriptions', '/v1/images/generations']) {
      expect(() => requestFor(path, null, on)).toThrowError(
        expect.objectContaining({ code: 'request.missing_model' }),
      );
    }
  });
});

test('a request that names nothing has no route on a view without slots', () => {
  const modelRef = plainModelRef(null);
  for (const path of ['/v1/audio/speech', '/v1/chat/completions', '/v1/anything']) {
    const request = { path, type: pathRow(path).type, modelRef };
    const found = resolve(request, routingView());
    expect(found.target).toBeNull();
    expect(refusal(request, routingView(), found)).toMatchObject({
      code: 'dispatch.no_route',
      message: 'No model was given and there is no default slot for this endpoint.',
    });
  }
});

test('a view has the enabled slots only', () => {
  const [on, off] = [slot('on', 'm'), slot('off', 'm', { enabled: false })];
  const viewOf = (...slots: SlotRecord[]) =>
    createRoutingView({
      ...{ slots: { views: () => slots }, registry: { list: () => [] } as never, names: () => NO_NAMES },
      ...{ upstreams: NO_UPSTREAMS, npuSuffix: () => 'flm' },
    });
  expect(viewOf(on, off).slots).toEqual([on]);
  expect(viewOf(on).slots).toEqual([on]);
});

test('chat sent to an embedding model by its id is 409', () => {
  const on = routingView({ slots: [slot('embed', 'e5', { type: 'embedding' })] });
  const question = requestFor('/v1/chat/completions', 'e5', on);
  expect(refusal(question, on, resolve(question, on))).toMatchObject({
    code: 'dispatch.capability_mismatch',
  });
});
