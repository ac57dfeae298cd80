import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { quotaExceeded, UpstreamDown, unavailable } from '../../upstreams/refusals.ts';
import { RequestUnsent } from '../forward/failure.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { UpstreamBusy } from './failover.ts';
import {
  allowsFallback,
  fallbackCandidates,
  fallbacksOf,
  ModelFallbacks,
  permitsFallback,
} from './model-fallbacks.ts';

const CHAT = { path: '/v1/chat/completions', type: 'llm' } as const;
const view = routingView({
  slots: [
    slotRecord({ name: 'agent', model: 'local' }),
    slotRecord({ name: 'embed', type: 'embedding', model: 'vectors' }),
  ],
  upstreams: [
    upstreamConfigOf({ name: 'cloud', models: ['gpt'] }),
    upstreamConfigOf({ name: 'desk', models: ['small', 'big'], isSpendGuarded: false }),
    upstreamConfigOf({ name: 'cold', models: [], isCold: true }),
  ],
});

test.each([
  [undefined, true, true],
  [undefined, false, false],
  ['1', false, true],
  [' True', false, true],
  ['0', true, false],
  ['', true, false],
  ['nonsense', true, false],
  [['1', '0'], true, false],
])('header %j with the setting %j: %j', (header, isEnabled, expected) => {
  expect(allowsFallback(header, isEnabled)).toBe(expected);
});

test.each([
  ['an unsent request', new RequestUnsent(new Error('refused')), true],
  ['a busy upstream', new UpstreamBusy({ status: 503, bytes: Buffer.alloc(0), truncated: false }), true],
  ['an upstream that went down', new UpstreamDown('dispatch.upstream_unavailable'), true],
  ['a paused upstream', unavailable('It is paused.'), true],
  ['a daily limit', quotaExceeded(60), true],
  ['a slot without memory', new GatewayError('slot.no_memory'), true],
  ['a slot that failed', new GatewayError('slot.failed'), true],
  ['a full queue', new GatewayError('slot.queue_full'), true],
  [
    'a connection that broke after the request was sent',
    new GatewayError('dispatch.upstream_unavailable', { cause: new Error('reset') }),
    false,
  ],
  ['a time limit', new GatewayError('dispatch.upstream_timeout'), false],
  ['no route', new GatewayError('dispatch.no_route'), false],
  ['a refused key', new GatewayError('upstream.auth_failed'), false],
  ['a loop', new GatewayError('upstream.loop'), false],
  ['the end of the gateway', new GatewayError('gateway.stopping'), false],
  ['any other error', new Error('x'), false],
])('%s: %j', (_, failure, expected) => expect(permitsFallback(failure)).toBe(expected));

test('a provider with a spend guard comes after the own network; what cannot serve the route is refused', () => {
  const found = fallbackCandidates(['gpt', 'missing', 'vectors', 'small', 'svc/agent'], CHAT, view);
  expect(found.map(({ model, refused }) => [model, refused?.code ?? null])).toEqual([
    ['missing', 'dispatch.no_route'],
    ['vectors', 'dispatch.capability_mismatch'],
    ['small', null],
    ['svc/agent', null],
    ['gpt', null],
  ]);
});

test('each model and each target is tried once', () => {
  const fallbacks = new ModelFallbacks({ big: ['svc/agent', 'local', 'small', 'gpt'] }, ['big']);
  const next = () =>
    fallbacks.next(CHAT, view, ({ upstream }) => (upstream === 'cloud' ? unavailable('It is down.') : null));
  expect(next()).toBeNull();
  fallbacks.record({ kind: 'upstream', upstream: 'desk', model: 'big' });
  expect(next()).toBe('svc/agent');
  fallbacks.take('svc/agent');
  fallbacks.record({ kind: 'slot', slot: 'agent', model: 'local' });
  expect(next()).toBe('small');
  fallbacks.take('small');
  expect(next()).toBeNull();
});

test('the list of the requested name comes before that of its model', () => {
  const first = (requested: string) => {
    const fallbacks = new ModelFallbacks({ local: ['small'], agent: ['big'] }, [requested]);
    fallbacks.record({ kind: 'slot', slot: 'agent', model: 'local' });
    return fallbacks.next(CHAT, view, () => null);
  };
  expect([first('agent'), first('svc/agent'), first('local')]).toEqual(['big', 'small', 'small']);
});

test.each([
  ['/v1/chat/completions', true],
  ['/v1/completions', true],
  ['/v1/rerank', true],
  ['/v1/embeddings', false],
  ['/v1/messages/count_tokens', false],
  ['/v1/audio/speech', false],
  ['/v1/audio/transcriptions', false],
  ['/v1/images/generations', false],
])('%s: %j', (path, expected) => {
  const config = { map: { m: ['a'] }, isEnabled: true };
  expect(fallbacksOf({ path, names: ['m'], header: undefined }, config) !== null).toBe(expected);
  expect(fallbacksOf({ path, names: ['m'], header: undefined }, { map: {}, isEnabled: true })).toBeNull();
});
