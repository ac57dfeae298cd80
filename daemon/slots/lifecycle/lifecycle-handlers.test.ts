import { describe, expect, it } from 'vitest';
import { noMemoryError } from '../refusals.ts';
import { ControllerBench, MODEL } from '../testing/controller-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import { sumOf } from '../testing/memory.ts';
import { refusalOf } from '../testing/refusal-of.ts';

describe('failure', () => {
  it('a crash while serving is an error with its reason, and the next attempt follows after 5 s', async () => {
    const bench = new ControllerBench();
    const lease = await bench.request();
    bench.runner.last.end('The engine was killed.');
    await settle();
    expect(bench.controller.record()).toMatchObject({
      state: 'error',
      active: 0,
      failure: {
        reason: 'The engine was killed.',
        failures: 1,
        parked: false,
        retry_at: bench.clock.now() + 5_000,
      },
    });
    const error = await refusalOf(bench.request());
    expect([error.code, error.headers()['retry-after']]).toEqual(['slot.failed', '5']);
    lease.release();
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
    const next = await bench.request();
    lease.release();
    expect(bench.controller.record().active).toBe(1);
    next.release();
  });

  it('callers that wait when the load fails are refused with the reason', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = refusalOf(bench.request());
    bench.runner.last.end('unknown architecture');
    expect((await request).options.details).toMatchObject({ reason: 'unknown architecture', failures: 1 });
  });

  it('is retried after 5, 15, 45 and 135 s; the fifth failure parks the slot (P01)', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(5);
    expect(bench.runner.starts).toBe(5);
    expect(bench.controller.record().failure).toEqual({
      reason: 'failure 5',
      failures: 5,
      parked: true,
      retry_at: null,
    });
    const error = await refusalOf(bench.request());
    expect(error.headers()).toEqual({ 'x-should-retry': 'false' });
    await bench.clock.advance(299_000);
    expect(bench.runner.starts).toBe(5);
  });

  it('parked: one request per 300 s is the trial', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(5);
    await bench.clock.advance(300_000);
    bench.runner.loadsAtOnce = false;
    const trial = refusalOf(bench.request());
    bench.runner.last.end('failure 6');
    expect((await trial).code).toBe('slot.failed');
    await refusalOf(bench.request());
    expect(bench.runner.starts).toBe(6);
    await bench.clock.advance(300_000);
    bench.runner.loadsAtOnce = true;
    (await bench.request()).release();
    expect(bench.controller.record()).toMatchObject({ state: 'ready', failure: null });
  });

  it('a trial whose caller disconnects returns the slot to its earlier state', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(5);
    await bench.clock.advance(300_000);
    bench.runner.loadsAtOnce = false;
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    disconnect.abort();
    await settle();
    expect(bench.controller.record()).toMatchObject({
      state: 'error',
      failure: { failures: 5, parked: true },
    });
  });

  it('an ordinary load whose caller disconnects leaves the slot offline, regardless of earlier failures', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(1);
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
    bench.controller.evict();
    await settle();
    bench.runner.loadsAtOnce = false;
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    bench.runner.last.stopsOnRequest = false;
    disconnect.abort();
    await settle();
    expect(bench.state).toBe('stopping');
    bench.runner.last.end();
    await settle();
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
    const starts = bench.runner.starts;
    await bench.clock.advance(600_000);
    expect([bench.state, bench.runner.starts]).toEqual(['offline', starts]);
    bench.runner.loadsAtOnce = true;
    (await bench.request()).release();
  });

  it('a caller that arrives while such a load is being ended gets a new load', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(1);
    await bench.clock.advance(5_000);
    bench.controller.evict();
    await settle();
    bench.runner.loadsAtOnce = false;
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    bench.runner.last.stopsOnRequest = false;
    disconnect.abort();
    await settle();
    const request = bench.request();
    bench.runner.loadsAtOnce = true;
    bench.runner.last.end();
    (await request).release();
    expect(bench.state).toBe('ready');
  });

  it('parked: an admin may load at any time', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(5);
    await bench.controller.load();
    expect(bench.state).toBe('ready');
  });

  it('ten minutes of serving reset the count, nine do not', async () => {
    for (const [minutes, failures] of [
      [9, 4],
      [10, 1],
    ] as const) {
      const bench = new ControllerBench();
      await bench.failTimes(3);
      await bench.clock.advance(45_000);
      await bench.clock.advance(minutes * 60_000);
      bench.runner.last.end();
      await settle();
      expect(bench.controller.record().failure?.failures).toBe(failures);
    }
  });

  it('a retry that is refused for memory counts no failure and is repeated', async () => {
    const bench = new ControllerBench();
    await bench.failTimes(1);
    bench.refusal = noMemoryError('agent', sumOf({ needed: 1e9, free: 0, reserved: 0 }));
    await bench.clock.advance(5_000);
    expect(bench.controller.record()).toMatchObject({ state: 'error', failure: { failures: 1 } });
    bench.refusal = null;
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
  });
});

describe('a deliberate stop', () => {
  it('a crash while draining counts as a deliberate stop', async () => {
    const bench = new ControllerBench();
    await bench.request();
    const unloaded = bench.controller.unload();
    bench.runner.last.end('crash');
    await unloaded;
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('a stop while a failed start is being ended is a stop, not a failure', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    void refusalOf(bench.controller.load());
    bench.runner.last.stopsOnRequest = false;
    await bench.clock.advance(60_001);
    const unloaded = bench.controller.unload();
    bench.runner.last.end();
    await unloaded;
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
  });
});

describe('ten minutes of serving', () => {
  it.each([
    [599_000, 2],
    [600_000, 1],
  ])(
    'after %i ms ready the next failure is number %i, although the engine was stopped on purpose',
    async (ms, failures) => {
      const bench = new ControllerBench('idle_unload = 0', 'utility');
      await bench.failTimes(1);
      await bench.controller.load();
      await bench.clock.advance(ms);
      bench.controller.evict();
      await settle();
      expect(bench.state).toBe('offline');
      bench.runner.loadsAtOnce = false;
      const failing = bench.request();
      bench.runner.last.end('broken');
      await refusalOf(failing);
      expect(bench.controller.record().failure).toMatchObject({ failures });
    },
  );
});

describe('an engine that is ready', () => {
  it('that gets no request is unloaded after its idle time', async () => {
    const bench = new ControllerBench('idle_unload = 60', 'utility');
    await bench.controller.load();
    await bench.clock.advance(59_999);
    expect(bench.state).toBe('ready');
    await bench.clock.advance(1);
    expect(bench.state).toBe('offline');
  });

  it('that holds the demonstration model is replaced by a real model that appeared while it loaded', async () => {
    const bench = new ControllerBench();
    bench.model = { ...MODEL, id: 'demo', demo: true };
    bench.runner.loadsAtOnce = false;
    const load = bench.controller.load();
    bench.model = MODEL;
    bench.controller.refreshModel();
    bench.runner.loadsAtOnce = true;
    bench.runner.last.load();
    await load;
    await settle();
    expect(bench.controller.record()).toMatchObject({ state: 'ready', model: 'tiny' });
  });
});

it('the start and the end of an engine are emitted, and a failure when it was not stopped on purpose', async () => {
  const bench = new ControllerBench();
  await bench.controller.load();
  await bench.controller.unload();
  expect(bench.events).toEqual(['ready', 'ended']);
  await bench.controller.load();
  bench.runner.last.end();
  await settle();
  expect(bench.events.slice(2)).toEqual(['ready', 'ended', 'failed']);
});
