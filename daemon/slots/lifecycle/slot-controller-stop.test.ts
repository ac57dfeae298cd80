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

  it('loses no caller: those that wait or arrive while it drains are served by a new load', async () => {
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

  it('P09: a stop during a start stops it, and refuses the load', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const load = refusalOf(bench.controller.load());
    await bench.controller.unload();
    expect(await load).toMatchObject({ code: 'slot.draining', status: 503 });
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 1]);
  });

  it('a stop during a start loses no waiting caller: the next load serves it', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const [load, first, second] = [refusalOf(bench.controller.load()), bench.request(), bench.request()];
    const unloaded = bench.controller.unload();
    bench.runner.loadsAtOnce = true;
    await unloaded;
    expect((await load).code).toBe('slot.draining');
    for (const lease of [first, second]) (await lease).release();
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('a caller that arrives while a cancelled start is being ended is served by the next load', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const load = refusalOf(bench.controller.load());
    const unloaded = bench.controller.unload();
    const late = bench.request();
    bench.runner.loadsAtOnce = true;
    await unloaded;
    (await late).release();
    expect([(await load).code, bench.runner.starts]).toEqual(['slot.draining', 2]);
  });

  it('repeated unloads lose no caller', async () => {
    const bench = new ControllerBench('parallel = 1');
    const served: string[] = [];
    const callers = Array.from({ length: 20 }, async (_, index) => {
      if (index % 4 === 3) void bench.controller.unload();
      const lease = await bench.request();
      served.push(lease.slot);
      await settle();
      if (index % 5 === 4) void bench.controller.unload();
      lease.release();
    });
    await Promise.all(callers);
    expect(served).toHaveLength(20);
  });

  it('a caller whose slot was unloaded during a load gets the failure of the next load', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = refusalOf(bench.request());
    await bench.controller.unload();
    await settle();
    bench.runner.last.end('broken');
    expect(await request).toMatchObject({ code: 'slot.failed' });
  });

  it('unloading a load that waits for memory keeps its waiting callers and withdraws it without any', async () => {
    const bench = new ControllerBench();
    bench.waitsFor = ['other'];
    const request = bench.request();
    await bench.controller.unload();
    expect(bench.controller.record()).toMatchObject({ state: 'offline', queued: 1, waiting_for: ['other'] });
    bench.waitsFor = null;
    bench.controller.retry();
    (await request).release();
    await bench.controller.unload();
    bench.waitsFor = ['other'];
    const load = refusalOf(bench.controller.load());
    await bench.controller.unload();
    expect((await load).code).toBe('slot.draining');
    expect(bench.controller.record()).toMatchObject({ state: 'offline', waiting_for: [] });
  });

  it('unloading a failed slot clears the failure and its next attempt', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(2);
    await bench.controller.unload();
    await bench.clock.advance(1_000_000);
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 2]);
  });

  it('a restart during a load cancels it, and the new engine serves the waiting callers', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = bench.request();
    const restarted = bench.controller.restart();
    bench.runner.loadsAtOnce = true;
    (await request).release();
    await restarted;
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('a restart of a load that waits for memory keeps its waiting callers', async () => {
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
  it('happens after the time without a request; reading the state does not prolong it', async () => {
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

  it('agent stays loaded', async () => {
    const bench = new ControllerBench();
    (await bench.request()).release();
    await bench.clock.advance(100_000_000);
    expect(bench.state).toBe('ready');
  });
});

describe('settings and models that change', () => {
  it('the record names the keys of a changed file until the next start, and no others', async () => {
    const bench = new ControllerBench('parallel = 1\npinned = true');
    (await bench.request()).release();
    expect(bench.controller.record()).not.toHaveProperty('pending');
    bench.controller.configure(slotConfig('agent', 'parallel = 3\ncontext = 2048\npriority = 2'));
    expect(bench.controller.record()).toMatchObject({ pending: ['context', 'parallel'], state: 'ready' });
    bench.controller.configure(slotConfig('agent', 'parallel = 1'));
    expect(bench.controller.record()).not.toHaveProperty('pending');
    bench.controller.configure(slotConfig('agent', 'parallel = 3'));
    await bench.controller.restart();
    expect(bench.controller.record()).not.toHaveProperty('pending');
    expect(bench.controller.record()).toMatchObject({ parallel: 3, state: 'ready' });
    await bench.controller.unload();
    bench.controller.configure(slotConfig('agent', 'parallel = 4'));
    expect(bench.controller.record()).not.toHaveProperty('pending');
  });

  it('an attached server is connected again when its address changes, after its requests', async () => {
    const attached = (port: number, more = '') =>
      `engine = "custom"\nrunner = "attach"\nmodel = "m"\nurl = "http://127.0.0.1:${port}"\n${more}`;
    const bench = new ControllerBench(attached(1));
    const lease = await bench.request();
    bench.controller.configure(slotConfig('agent', attached(1, 'pinned = true')));
    expect(bench.state).toBe('serving');
    bench.controller.configure(slotConfig('agent', attached(2)));
    expect(bench.state).toBe('draining');
    const waiting = bench.request();
    lease.release();
    (await waiting).release();
    expect(bench.controller.current?.config.url).toBe('http://127.0.0.1:2');
    expect(bench.controller.record()).not.toHaveProperty('pending');
  });

  it('a slot that is disabled drains, refuses waiting callers, and accepts none', async () => {
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

  it('the demonstration model is replaced by a real one without cutting a response', async () => {
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
  it('lets requests finish within the limit and refuses new ones with Retry-After', async () => {
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

  it('cuts the remaining requests when the limit is over', async () => {
    const bench = new ControllerBench();
    await bench.request();
    const closed = bench.controller.close(15_000);
    await bench.clock.advance(15_000);
    await closed;
    expect([bench.state, bench.runner.last.stops]).toEqual(['offline', [2_000]]);
  });

  it('cancels a load, and leaves a failed slot as it is without another attempt', async () => {
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
