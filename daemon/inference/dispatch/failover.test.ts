import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { neverSent, otherUpstream } from './failover.ts';

describe('otherUpstream', () => {
  const on = routingView({
    upstreams: [
      upstreamConfigOf({ name: 'a', models: ['m'] }),
      upstreamConfigOf({ name: 'b', models: ['m'], priority: 5 }),
      upstreamConfigOf({ name: 'c', models: ['m'], isHealthy: false }),
      upstreamConfigOf({ name: 'd', models: ['n'] }),
    ],
  });
  const tried = (...names: string[]) => new Set(names);
  const decision = {
    step: 'upstream-cached',
    target: { kind: 'upstream', upstream: 'a', model: 'm' },
  } as const;

  it('chooses the next healthy one with the same id', () => {
    expect(otherUpstream(decision, tried('a'), on)).toMatchObject({
      step: 'upstream-cached',
      target: { upstream: 'b', model: 'm' },
    });
    expect(otherUpstream(decision, tried('a', 'b'), on)).toBeNull();
  });

  it('never replaces a binding of the registry or a slot', () => {
    expect(otherUpstream({ ...decision, step: 'registry' }, tried('a'), on)).toBeNull();
    const slot = { step: 'loaded-slot', target: { kind: 'slot', slot: 's', model: 'm' } } as const;
    expect(otherUpstream(slot, tried(), on)).toBeNull();
  });
});

describe('neverSent', () => {
  const failure = (cause?: unknown) => new GatewayError('dispatch.upstream_unavailable', { cause });
  it.each([
    [failure({ code: 'ECONNREFUSED' }), true],
    [failure({ code: 'UND_ERR_CONNECT_TIMEOUT' }), true],
    [failure({ code: 'UND_ERR_SOCKET' }), false],
    [failure(), false],
    [new GatewayError('upstream.error', { cause: { code: 'ECONNREFUSED' } }), false],
    [new Error('x'), false],
  ])('%s: %s', (thrown, expected) => expect(neverSent(thrown)).toBe(expected));
});
