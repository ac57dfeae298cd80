import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const summaryOf = (error: GatewayError | null) => error && [error.code, error.message, error.options];

function thrown(work: () => unknown): GatewayError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

describe('a predicted refusal equals the actual one', () => {
  const failing = (times: number) => (upstreams: ReturnType<UpstreamsBench['open']>) => {
    for (let count = 0; count < times; count++) upstreams.connect('desk').onEnd({ status: 502 });
  };
  it.each([
    ['nothing', '', failing(0), null],
    ['disabled', 'enabled = false', failing(0), 'dispatch.upstream_unavailable'],
    ['without its key', 'key_env = "UPSTREAM_X"', failing(0), 'upstream.auth_failed'],
    ['its daily limit is reached', 'daily_requests = 1', failing(1), 'upstream.daily_cap'],
    ['paused', '', failing(5), 'dispatch.upstream_unavailable'],
  ] as const)('%s', (_, more, before, code) => {
    bench.file('desk', `base_url = "http://desk.test"\nmodels = ["m"]\n${more}`);
    const upstreams = bench.open();
    before(upstreams);
    const detail = upstreams.detail('desk');
    const predicted = upstreams.refusal('desk');
    expect(upstreams.detail('desk')).toEqual(detail);
    expect(predicted?.code ?? null).toBe(code);
    expect(summaryOf(predicted)).toEqual(summaryOf(thrown(() => upstreams.connect('desk'))));
  });

  it('refuses an upstream with the address of this gateway, and an unknown name', () => {
    bench.file('desk', 'base_url = "http://127.0.0.1:8080"');
    const upstreams = bench.open();
    bench.ownAddress = { bindHost: '127.0.0.1', port: 8080 };
    for (const name of ['desk', 'unknown'])
      expect(summaryOf(upstreams.refusal(name))).toEqual(summaryOf(thrown(() => upstreams.connect(name))));
    expect(upstreams.refusal('desk')?.code).toBe('upstream.loop');
  });
});
