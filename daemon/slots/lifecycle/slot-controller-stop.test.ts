import { describe, expect, it } from 'vitest';
import { ControllerBench, MODEL, slotConfig } from '../testing/controller-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import { refusalOf } from '../testing/refusal-of.ts';

describe('unload and restart', () => {
  it('drains: running requests end, then the engine; a deliberate stop is no error', async () => {
    const bench = new ControllerBench();
    const lease = await bench.request();
    const unloaded = bench.controller.unload();
    await settle();
    expect([bench.state, bench.runner.last.stops]).toEqual(['draining', []]);
    lease.release();
    await unloaded;
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('loses nobody: who waits or comes while it drains is served by a new load', async () => {
    const bench = new ControllerBench('parallel = 1');
    const lease = await bench.request();
    const waiting = bench.request();
    const unloaded = bench.controller.unload();
    const late = bench.request();
    lease.release();
    await unloaded;
    (await waiting).release();
    (await late).release();
    expect(bench.runner.starts).toBe(2);
  });

  it('P09: stop during start is stopped, and who waited is told', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = refusalOf(bench.request());
    await bench.controller.unload();
    expect(await request).toMatchObject({ code: 'slot.draining', status: 503 });
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 1]);
  });

  it('unloading a failed slot forgets the failure and its next try', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(2);
    await bench.controller.unload();
    await bench.clock.advance(1_000_000);
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 2]);
  });

  it('restart during a load cuts that, and who waited is served by the new engine', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = bench.request();
    const restarted = bench.controller.restart();
    bench.runner.loadsAtOnce = true;
    (await request).release();
    await restarted;
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('restart of a load that waits for memory keeps who waits for it', async () => {
    const bench = new ControllerBench();
    bench.waitsFor = ['other'];
    const request = bench.request();
    const restarted = bench.controller.restart();
    expect(bench.controller.record()).toMatchObject({ state: 'offline', queued: 1 });
    bench.waitsFor = null;
    bench.controller.retry();
    (await request).release();
    await restarted;
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 1]);
  });

  it('restart ends with a new engine', async () => {
    const bench = new ControllerBench();
    await bench.controller.load();
    await bench.controller.restart();
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });
});

describe('idle unload', () => {
  it('happens after the time without a request; looking does not prolong it', async () => {
    const bench = new ControllerBench('', 'utility');
    const lease = await bench.request();
    await bench.clock.advance(10_000_000);
    expect(bench.state).toBe('serving');
    lease.release();
    for (let minute = 0; minute < 14; minute++) {
      await bench.clock.advance(60_000);
      bench.controller.record();
    }
    expect(bench.state).toBe('ready');
    await bench.clock.advance(60_000);
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('agent stays', async () => {
    const bench = new ControllerBench();
    (await bench.request()).release();
    await bench.clock.advance(100_000_000);
    expect(bench.state).toBe('ready');
  });
});

describe('settings and models that change', () => {
  it('a slot that is disabled drains, refuses who waits, and takes nobody', async () => {
    const bench = new ControllerBench('parallel = 1');
    const lease = await bench.request();
    const waiting = refusalOf(bench.request());
    bench.controller.configure(slotConfig('agent', 'enabled = false'));
    expect((await waiting).code).toBe('slot.disabled');
    lease.release();
    await settle();
    expect(bench.state).toBe('offline');
    expect((await refusalOf(bench.request())).code).toBe('slot.disabled');
  });

  it('the demonstration model steps aside for a real one, without cutting an answer', async () => {
    const bench = new ControllerBench();
    bench.model = { ...MODEL, id: 'demo', demo: true };
    const lease = await bench.request();
    expect(bench.controller.record()).toMatchObject({ model: 'demo', demo: true });
    bench.model = MODEL;
    bench.controller.refreshModel();
    expect(bench.state).toBe('draining');
    lease.release();
    await settle();
    expect(bench.controller.record()).toMatchObject({ state: 'ready', model: 'tiny', demo: false });
  });
});

describe('close', () => {
  it('lets answers end within the limit and refuses new requests with Retry-After', async () => {
    const bench = new ControllerBench('parallel = 1');
    const lease = await bench.request();
    const waiting = refusalOf(bench.request());
    const closed = bench.controller.close(15_000);
    expect((await waiting).code).toBe('slot.draining');
    const error = await refusalOf(bench.request());
    expect([error.status, error.headers()['retry-after']]).toEqual([503, '10']);
    lease.release();
    await closed;
    expect([bench.state, bench.runner.last.stops]).toEqual(['offline', [10_000]]);
  });

  it('cuts what is left when the limit is over', async () => {
    const bench = new ControllerBench();
    await bench.request();
    const closed = bench.controller.close(15_000);
    await bench.clock.advance(15_000);
    await closed;
    expect([bench.state, bench.runner.last.stops]).toEqual(['offline', [2_000]]);
  });

  it('cuts a load, and leaves a failed slot as it is without another try', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const load = refusalOf(bench.controller.load());
    await bench.controller.close(0);
    expect((await load).code).toBe('slot.draining');
    expect(bench.state).toBe('offline');
    const failed = new ControllerBench();
    await failed.failTimes(1);
    await failed.controller.close(0);
    await failed.clock.advance(1_000_000);
    expect([failed.state, failed.runner.starts]).toEqual(['error', 1]);
  });
});
