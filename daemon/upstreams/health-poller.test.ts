import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HealthPoller, needsPoll } from './health-poller.ts';
import { Listing } from './listing.ts';
import { factsOf, idsOf, listOf, UpstreamsBench } from './testing/bench.ts';
import { Upstream } from './upstream.ts';
import { readUpstreamFile, type UpstreamConfig } from './upstream-file.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(async () => {
  vi.useRealTimers();
  await bench.remove();
});

const MAX_AGE_MS = 600_000;

function upstream(more = ''): Upstream {
  const { config } = readUpstreamFile('desk.toml', `base_url = "http://127.0.0.1:9"\n${more}`);
  const clocks = { wall: () => bench.clock.wall, monotonic: () => bench.clock.steady };
  const parts = { clocks, environment: () => undefined, isSelf: () => false };
  return new Upstream(config as UpstreamConfig, new Listing(clocks), parts);
}

/** A healthy upstream with a list. */
function listed(more?: string): Upstream {
  const one = upstream(more);
  one.listing.update([]);
  one.recordListResponse(true, one.currentCredentials);
  return one;
}

const wants = (one: Upstream) => needsPoll(one, MAX_AGE_MS);

describe('which upstreams are polled', () => {
  it.each([
    ['', true],
    ['remote = true', true],
    ['enabled = false', false],
    ['models = ["m"]', false],
    ['key_env = "UPSTREAM_X"', false],
  ])('an upstream that was never contacted, with "%s": %s', (more, expected) => {
    expect(wants(upstream(more))).toBe(expected);
  });

  it('an upstream whose list failed, after its pause', () => {
    const one = upstream();
    one.recordListFailure('x', { code: 'ECONNREFUSED' });
    expect(wants(one)).toBe(false);
    bench.wait(5_000);
    expect(wants(one)).toBe(true);
  });

  it.each(['', 'remote = true', 'models = ["m"]'])(
    'an upstream whose last call failed, with "%s"',
    (more) => {
      const one = listed(more);
      expect(wants(one)).toBe(false);
      const refused = () => {
        const call = { pass: null, sent: one.currentCredentials, model: 'm', hasStatus: false, number: 1 };
        one.recordEnd({ failed: { code: 'ECONNREFUSED' } }, call);
      };
      refused();
      expect(wants(one)).toBe(true);
      refused();
      expect([one.health, wants(one)]).toEqual(['down', false]);
      bench.wait(5_000);
      expect(wants(one)).toBe(true);
    },
  );

  it.each(['', 'models = ["m"]'])(
    'an upstream that led back to this gateway, after a pause, with "%s"',
    (more) => {
      const one = upstream(more);
      one.recordLoop();
      expect([one.health, wants(one)]).toEqual(['loop', false]);
      bench.wait(5_000);
      expect(wants(one)).toBe(true);
    },
  );

  it.each([
    ['', true],
    ['remote = true', false],
    ['models = ["m"]', false],
  ])('a healthy upstream with a stale list, with "%s": %s', (more, expected) => {
    const one = listed(more);
    bench.wait(MAX_AGE_MS - 1);
    expect(wants(one)).toBe(false);
    bench.wait(1);
    expect(wants(one)).toBe(expected);
  });
});

describe('polls', () => {
  it('run at most every five minutes for a provider, and only while there are upstreams', () => {
    vi.useFakeTimers();
    const [own, provider] = [upstream(), upstream('remote = true')];
    let all: Upstream[] = [];
    const polled: Upstream[] = [];
    const poller = new HealthPoller({
      upstreams: () => all,
      poll: (one) => void polled.push(one),
      maxAgeMs: () => MAX_AGE_MS,
      monotonic: () => performance.now(),
    });
    const count = (one: Upstream) => polled.filter((each) => each === one).length;
    poller.update();
    expect(vi.getTimerCount()).toBe(0);
    all = [own, provider];
    poller.update();
    poller.update();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(5 * 60_000);
    expect([count(own), count(provider)]).toEqual([10, 1]);
    vi.advanceTimersByTime(30_000);
    expect([count(own), count(provider)]).toEqual([11, 2]);
    poller.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('find an upstream that was off at the start, and new models of an idle one', async () => {
    const fakeUpstream = await bench.fakeUpstream((_req, res) => void res.destroy());
    bench.file('desk', `base_url = "${fakeUpstream.url}"`);
    const upstreams = bench.open({ pollIntervalMs: 20 });
    upstreams.start();
    await expect.poll(() => upstreams.detail('desk')?.health).toBe('failing');
    fakeUpstream.handler = listOf('a');
    bench.wait(5_000);
    await expect.poll(() => idsOf(upstreams, 'desk')).toEqual(['a']);
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(true);
    fakeUpstream.handler = listOf('a', 'b');
    const requestsBefore = fakeUpstream.requests.length;
    bench.wait(MAX_AGE_MS);
    await expect.poll(() => idsOf(upstreams, 'desk')).toEqual(['a', 'b']);
    expect(fakeUpstream.requests.length).toBe(requestsBefore + 1);
  });

  it('clear the alarm of a single failed call once the list is read successfully', async () => {
    const fakeUpstream = await bench.fakeUpstream(listOf('a'));
    const upstreams = bench.desk(fakeUpstream);
    await upstreams.refreshCold(new AbortController().signal);
    upstreams.connect('desk').onEnd({ status: 500 });
    expect(upstreams.detail('desk')?.health).toBe('failing');
    await upstreams.readList('desk', new AbortController().signal);
    expect(upstreams.detail('desk')).toMatchObject({ health: 'ok', reason: null });
  });

  it('stop with the gateway', async () => {
    const fakeUpstream = await bench.fakeUpstream((_req, res) => void res.destroy());
    bench.file('desk', `base_url = "${fakeUpstream.url}"`);
    const upstreams = bench.open();
    vi.useFakeTimers();
    upstreams.start();
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    upstreams.close();
    upstreams.reload();
    expect(vi.getTimerCount()).toBe(0);
  });
});
