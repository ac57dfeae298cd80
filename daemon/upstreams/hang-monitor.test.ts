import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import type { AllUpstreams, UpstreamCall } from './port.ts';
import { UpstreamDown } from './refusals.ts';
import { type FakeUpstream, factsOf, listOf, UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
let desk: FakeUpstream;
let upstreams: AllUpstreams;
/** The reasons with which calls were ended, by their names. */
let ended: Map<string, GatewayError>;

const healthy = listOf('m');
/** Closes the connection, which fails faster than silence. */
const broken: FakeUpstream['handler'] = (_req, res) => void res.destroy();

beforeEach(async () => {
  bench = new UpstreamsBench();
  desk = await bench.fakeUpstream(healthy);
  ended = new Map();
});
afterEach(() => bench.remove());

function open(more = ''): void {
  bench.file('desk', `base_url = "${desk.url}"\nmodels = ["m"]\n${more}`);
  upstreams = bench.open({ hangTickMs: 5 });
}
function call(name: string): UpstreamCall {
  const made = upstreams.connect('desk', { model: 'm' });
  made.onDown((reason) => {
    ended.set(name, reason);
    made.onEnd(null);
  });
  return made;
}
/** How a connection fails that nothing accepts. */
const unreachable = () => Object.assign(new Error('connect'), { code: 'EHOSTUNREACH', syscall: 'connect' });
const health = () => upstreams.detail('desk')?.health;
const probes = () => desk.requests.filter((path) => path === '/v1/models').length;
/** Lets time pass until the next probe has ended. */
async function untilProbe(ms: number): Promise<void> {
  const before = probes();
  bench.wait(ms);
  await expect.poll(probes).toBe(before + 1);
}

describe('a hung upstream', () => {
  beforeEach(() => open());

  it('is down after two failed probes 5 s apart, and its waiting calls end at once', async () => {
    call('waiting');
    desk.handler = broken;
    await untilProbe(10_000);
    await expect.poll(health).toBe('failing');
    expect(ended.size).toBe(0);
    await untilProbe(5_000);
    await expect.poll(health).toBe('down');
    await expect.poll(() => ended.get('waiting')).toBeInstanceOf(UpstreamDown);
    expect(ended.get('waiting')?.message).toBe(
      'Upstream desk stopped responding. It did not respond to two probes.',
    );
    expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(false);
    expect(upstreams.detail('desk')).toMatchObject({ reason: 'It did not respond to two probes.' });
    expect(() => call('refused')).toThrow(
      /Upstream desk is down\. It did not respond to two probes\. Next probe/,
    );
    expect(upstreams.refusal('desk', { model: 'm' })).toMatchObject({
      code: 'dispatch.upstream_unavailable',
    });
  });

  it('ends running responses after 30 s of silence, and none of those that receive data', async () => {
    const [running, flowing] = [call('running'), call('flowing')];
    running.onResponse(200);
    flowing.onResponse(200);
    call('waiting');
    desk.handler = broken;
    await untilProbe(10_000);
    await expect.poll(health).toBe('failing');
    await untilProbe(5_000);
    await expect.poll(() => [...ended.keys()]).toEqual(['waiting']);
    flowing.onData();
    bench.wait(14_000);
    await new Promise((done) => setTimeout(done, 30));
    expect([...ended.keys()]).toEqual(['waiting']);
    bench.wait(1_000);
    await expect.poll(() => [...ended.keys()]).toEqual(['waiting', 'running']);
    expect(ended.get('running')).not.toBeInstanceOf(UpstreamDown);
  });

  it('is restored by a probe, which a refused request brings forward', async () => {
    call('waiting');
    desk.handler = broken;
    await untilProbe(10_000);
    await expect.poll(health).toBe('failing');
    await untilProbe(5_000);
    await expect.poll(health).toBe('down');
    desk.handler = healthy;
    expect(() => call('refused')).toThrow('is down');
    await untilProbe(1_000);
    await expect.poll(health).not.toBe('down');
    expect(() => call('served')).not.toThrow();
    expect(desk.requests.every((path) => path === '/v1/models')).toBe(true);
  });

  it('is found again after failed connections, without a call', async () => {
    for (const name of ['first', 'second']) call(name).onEnd({ failed: unreachable() });
    expect(health()).toBe('down');
    desk.handler = broken;
    await untilProbe(5_000);
    expect(health()).toBe('down');
    desk.handler = healthy;
    bench.wait(9_000);
    await new Promise((done) => setTimeout(done, 30));
    expect(health()).toBe('down');
    await untilProbe(1_000);
    await expect.poll(health).toBe('failing');
    await untilProbe(10_000);
    await expect.poll(health).toBe('ok');
    expect(desk.requests.every((path) => path === '/v1/models')).toBe(true);
  });

  it('that refuses connections is down after one probe', async () => {
    call('waiting');
    await desk.close();
    bench.wait(10_000);
    await expect.poll(health).toBe('down');
    await expect.poll(() => ended.size).toBe(1);
  });

  it('is found although each caller gives up before the limit', async () => {
    desk.handler = broken;
    for (let round = 0; round < 2; round++) {
      const made = call(`patient ${round}`);
      bench.wait(6_000);
      made.onEnd(null);
    }
    call('last');
    await expect.poll(probes).toBe(1);
  });
});

it('a busy upstream is probed each 10 s and never down', async () => {
  open();
  call('long prompt');
  for (let round = 0; round < 5; round++) await untilProbe(10_000);
  expect(ended.size).toBe(0);
  expect(factsOf(upstreams, 'desk')?.isHealthy).toBe(true);
});

it('an upstream whose file disables probes is never probed', async () => {
  open('hang_probe = false\n');
  call('waiting');
  bench.wait(60_000);
  await new Promise((done) => setTimeout(done, 30));
  expect([probes(), ended.size]).toEqual([0, 0]);
});

it('a sleeping vLLM is down until it is awake', async () => {
  let isSleeping = true;
  desk.handler = (req, res) =>
    req.url === '/is_sleeping'
      ? void res.end(JSON.stringify({ is_sleeping: isSleeping }))
      : healthy(req, res);
  open('kind = "vllm"\n');
  call('waiting');
  await untilProbe(10_000);
  await expect.poll(() => ended.get('waiting')?.message).toMatch(/sleep mode/);
  isSleeping = false;
  await untilProbe(5_000);
  await expect.poll(health).not.toBe('down');
});
