import { describe, expect, it } from 'vitest';
import { noMemoryError } from '../refusals.ts';
import { ControllerBench, MODEL } from '../testing/controller-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import { sumOf } from '../testing/memory.ts';
import { refusalOf } from '../testing/refusal-of.ts';

describe('a request for an idle slot', () => {
  it('loads, checks, serves and returns to ready', async () => {
    const bench = new ControllerBench();
    const lease = await bench.request();
    expect(lease).toMatchObject({
      slot: 'agent',
      model: 'tiny',
      origin: 'http://127.0.0.1:1',
      headers: { authorization: 'Bearer engine' },
      state: 'ready',
      device: 'cpu',
      degraded: null,
    });
    expect(bench.controller.record()).toMatchObject({
      active: 1,
      requests: 1,
      context: 512,
      parallel: 2,
      threads: 1,
    });
    lease.release();
    expect(bench.states).toEqual(['offline', 'starting', 'warming', 'ready', 'serving', 'ready']);
  });

  it('shows the window of the next load while it is not loaded: of the file or the default, never more than trained', async () => {
    for (const [file, trained, window] of [
      ['', 32_768, 8192],
      ['context = 2048', 32_768, 2048],
      ['context = 2048', 1024, 1024],
      ['', null, 8192],
    ] as const) {
      const bench = new ControllerBench(file);
      bench.model = { ...MODEL, contextTrain: trained };
      bench.controller.refreshModel();
      expect(bench.controller.view).toMatchObject({ context: null, window });
      const lease = await bench.request();
      expect(bench.controller.view).toMatchObject({ context: window, window });
      lease.release();
    }
  });

  it('shows no window for an engine that has none, and none without a model', () => {
    const bench = new ControllerBench('type = "llm"\nengine = "vllm"');
    expect(bench.controller.view.window).toBeNull();
    bench.model = null;
    bench.controller.refreshModel();
    expect(bench.controller.view.window).toBeNull();
    expect(bench.controller.view.context).toBeNull();
  });

  it('is degraded when a model with device auto runs on the CPU of a machine with a GPU', async () => {
    const bench = new ControllerBench();
    bench.gpuNote = 'Some GPU is not used. Install its driver.';
    const lease = await bench.request();
    expect(lease.degraded).toBe('The model runs on the CPU: Some GPU is not used. Install its driver.');
    expect(bench.controller.record().degraded).toBe(lease.degraded);
    const chosen = new ControllerBench('device = "cpu"');
    chosen.gpuNote = bench.gpuNote;
    expect((await chosen.request()).degraded).toBeNull();
  });

  it('P09: 20 requests at once start one engine and are served within its parallelism', async () => {
    const bench = new ControllerBench();
    const requests = Array.from({ length: 20 }, () => bench.request());
    let maxActive = 0;
    for (const one of requests) {
      const lease = await one;
      maxActive = Math.max(maxActive, bench.controller.record().active);
      lease.release();
    }
    expect([bench.runner.starts, maxActive, bench.controller.record().active]).toEqual([1, 2, 0]);
  });

  it('release is idempotent', async () => {
    const bench = new ControllerBench();
    const [one, two] = [await bench.request(), await bench.request()];
    one.release();
    one.release();
    expect(bench.controller.record().active).toBe(1);
    two.release();
    expect(bench.controller.record()).toMatchObject({ active: 0, state: 'ready' });
  });

  it('is notified once that the load is decided, and not at all when it is refused', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const notified: string[] = [];
    const one = bench.request({ onDecided: () => notified.push('one') });
    const two = bench.request({ onDecided: () => notified.push('two') });
    await settle();
    expect(notified).toEqual(['one', 'two']);
    bench.runner.last.load();
    await Promise.all([one, two]);
    expect(notified).toEqual(['one', 'two']);
    const other = new ControllerBench();
    other.model = null;
    await refusalOf(other.request({ onDecided: () => notified.push('three') }));
    await settle();
    expect(notified).toHaveLength(2);
  });

  it('is not notified while figures are read for its load, which may still be refused', async () => {
    const bench = new ControllerBench();
    Object.assign(bench, { waitsFor: [], undecided: true });
    const notified: string[] = [];
    const one = bench.request({ onDecided: () => notified.push('one') });
    await settle();
    expect(notified).toEqual([]);
    bench.undecided = false;
    bench.controller.retry();
    await settle();
    expect(notified).toEqual(['one']);
    bench.waitsFor = null;
    bench.controller.retry();
    (await one).release();
  });

  it('a disabled slot is refused', async () => {
    expect(await refusalOf(new ControllerBench('enabled = false').request())).toMatchObject({
      code: 'slot.disabled',
    });
  });

  it('a slot without a model is refused without a retry and stays offline', async () => {
    const bench = new ControllerBench();
    bench.model = null;
    const error = await refusalOf(bench.request());
    expect(error.code).toBe('slot.failed');
    expect(error.headers()['x-should-retry']).toBe('false');
    expect(bench.state).toBe('offline');
  });

  it('missing memory is 507 with the sum, and not a failure of the slot', async () => {
    const bench = new ControllerBench();
    bench.refusal = noMemoryError('agent', sumOf({ needed: 1e9, free: 0, reserved: 0 }));
    const error = await refusalOf(bench.request());
    expect([error.status, error.options.details]).toEqual([
      507,
      expect.objectContaining({ needed: 1e9, free: 0 }),
    ]);
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
    bench.refusal = null;
    (await bench.request()).release();
  });
});

describe('the queue', () => {
  it('is bounded: 429 with Retry-After and the position', async () => {
    const bench = new ControllerBench('parallel = 1');
    const lease = await bench.request();
    bench.queueMax = 2;
    const waiting = [bench.request(), bench.request()];
    const error = await refusalOf(bench.request());
    expect([error.status, error.code, error.options.details]).toEqual([
      429,
      'slot.queue_full',
      { slot: 'agent', position: 3, queued: 2, expected_wait_s: null },
    ]);
    expect(Number(error.headers()['retry-after'])).toBeGreaterThan(0);
    expect(bench.controller.record().queued).toBe(2);
    lease.release();
    (await waiting[0])?.release();
    (await waiting[1])?.release();
  });

  it('serves interactive callers first and removes those that disconnect', async () => {
    const bench = new ControllerBench('parallel = 1');
    const held = await bench.request();
    const order: string[] = [];
    const disconnect = new AbortController();
    const requests = [
      bench.request({ priority: 'batch' }).then((lease) => [order.push('batch'), lease.release()]),
      bench.request({ signal: disconnect.signal }),
      bench.request().then((lease) => [order.push('interactive'), lease.release()]),
    ];
    disconnect.abort(new Error('disconnected'));
    await expect(requests[1]).rejects.toThrow('disconnected');
    held.release();
    await Promise.all([requests[0], requests[2]]);
    expect(order).toEqual(['interactive', 'batch']);
  });

  it('an aborted caller starts nothing', async () => {
    const bench = new ControllerBench();
    await expect(bench.request({ signal: AbortSignal.abort(new Error('disconnected')) })).rejects.toThrow(
      'disconnected',
    );
    expect(bench.runner.starts).toBe(0);
  });
});
