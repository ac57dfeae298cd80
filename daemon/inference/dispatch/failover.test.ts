import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { stoppedResponding } from '../../upstreams/refusals.ts';
import { RequestUnsent } from '../forward/failure.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { failoverCaseOf, otherUpstream, UpstreamBusy } from './failover.ts';

describe('otherUpstream', () => {
  const on = routingView({
    upstreams: [
      upstreamConfigOf({ name: 'a', models: ['m'] }),
      upstreamConfigOf({ name: 'b', models: ['m'], priority: 5 }),
      upstreamConfigOf({ name: 'c', models: ['m'], isHealthy: false }),
      upstreamConfigOf({ name: 'd', models: ['n'] }),
      upstreamConfigOf({ name: 'e', models: ['m'], isBusy: true }),
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
    // A busy one is tried last, but not excluded.
    expect(otherUpstream(decision, tried('a', 'b'), on)).toMatchObject({ target: { upstream: 'e' } });
    expect(otherUpstream(decision, tried('a', 'b', 'e'), on)).toBeNull();
  });

  it('never replaces a binding of the registry or a slot', () => {
    expect(otherUpstream({ ...decision, step: 'registry' }, tried('a'), on)).toBeNull();
    const slot = { step: 'loaded-slot', target: { kind: 'slot', slot: 's', model: 'm' } } as const;
    expect(otherUpstream(slot, tried(), on)).toBeNull();
  });
});

describe('failoverCaseOf', () => {
  const failure = (cause?: unknown) => new GatewayError('dispatch.upstream_unavailable', { cause });
  const answered = (upstream_status: number, code: 'upstream.error' | 'audio.unsupported_format') =>
    new GatewayError(code, { details: { upstream_status } });
  it.each([
    [failure({ code: 'ECONNREFUSED' }), 'unsent'],
    [failure({ code: 'UND_ERR_CONNECT_TIMEOUT' }), 'unsent'],
    [failure({ code: 'UND_ERR_SOCKET' }), null],
    [failure({ code: 'ECONNRESET' }), null],
    [failure(), null],
    [new RequestUnsent({ code: 'ECONNRESET' }), 'unsent'],
    [new GatewayError('upstream.error', { cause: { code: 'ECONNREFUSED' } }), null],
    [new GatewayError('dispatch.upstream_timeout', { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }), null],
    [answered(429, 'upstream.error'), 'busy'],
    [answered(503, 'upstream.error'), 'busy'],
    [answered(503, 'audio.unsupported_format'), 'busy'],
    [answered(500, 'upstream.error'), null],
    [answered(502, 'upstream.error'), null],
    [answered(504, 'upstream.error'), null],
    [answered(400, 'upstream.error'), null],
    [new UpstreamBusy({ status: 503, bytes: Buffer.alloc(0), truncated: false }), 'busy'],
    [stoppedResponding('desk', null, true), 'down'],
    [stoppedResponding('desk', null, false), null],
    [new Error('x'), null],
  ])('%s: %s', (thrown, expected) => expect(failoverCaseOf(thrown)).toBe(expected));
});
