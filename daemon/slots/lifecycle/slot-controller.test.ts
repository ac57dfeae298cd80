import { describe, expect, it } from 'vitest';
import { noMemoryError } from '../refusals.ts';
import { settle } from '../testing/manual-clock.ts';
import { sumOf } from '../testing/memory.ts';
import { MODEL, OwnerBench } from '../testing/owner-bench.ts';
import { refused } from '../testing/refused.ts';

describe('a request for an idle slot', () => {
  it('loads, checks, serves and goes back to ready', async () => {
    const bench = new OwnerBench();
    const lease = await bench.ask();
    expect(lease).toMatchObject({
      slot: 'agent',
      model: 'tiny',
      origin: 'http://127.0.0.1:1',
      headers: { authorization: 'Bearer engine' },
      state: 'ready',
      device: 'cpu',
      degraded: null,
    });
    expect(bench.owner.record()).toMatchObject({
      active: 1,
      requests: 1,
      context: 512,
      parallel: 2,
      threads: 1,
    });
    lease.release();
    expect(bench.states).toEqual(['offline', 'starting', 'warming', 'ready', 'serving', 'ready']);
  });

  it('tells the window of the next load before it has one: of the file or the default, never more than trained', async () => {
    for (const [file, trained, window] of [
      ['', 32_768, 8192],
      ['context = 2048', 32_768, 2048],
      ['context = 2048', 1024, 1024],
      ['', null, 8192],
    ] as const) {
      const bench = new OwnerBench(file);
      bench.model = { ...MODEL, contextTrain: trained };
      bench.owner.refreshModel();
      expect(bench.owner.glance).toMatchObject({ context: null, window });
      const lease = await bench.ask();
      expect(bench.owner.glance).toMatchObject({ context: window, window });
      lease.release();
    }
  });

  it('tells no window for an engine that has none, and none without a model', () => {
    const bench = new OwnerBench('type = "llm"\nengine = "vllm"');
    expect(bench.owner.glance.window).toBeNull();
    bench.model = null;
    bench.owner.refreshModel();
    expect(bench.owner.glance.window).toBeNull();
    expect(bench.owner.glance.context).toBeNull();
  });

  it('says so when a model that may choose its device runs on the CPU beside a GPU', async () => {
    const bench = new OwnerBench();
    bench.gpuNote = 'Some GPU is not used. Install its driver.';
    const lease = await bench.ask();
    expect(lease.degraded).toBe('The model runs on the CPU: Some GPU is not used. Install its driver.');
    expect(bench.owner.record().degraded).toBe(lease.degraded);
    const chosen = new OwnerBench('device = "cpu"');
    chosen.gpuNote = bench.gpuNote;
    expect((await chosen.ask()).degraded).toBeNull();
  });

  it('P09: 20 requests at once start one engine and are served within its parallelism', async () => {
    const bench = new OwnerBench();
    const asked = Array.from({ length: 20 }, () => bench.ask());
    let most = 0;
    for (const one of asked) {
      const lease = await one;
      most = Math.max(most, bench.owner.record().active);
      lease.release();
    }
    expect([bench.runner.starts, most, bench.owner.record().active]).toEqual([1, 2, 0]);
  });

  it('release is idempotent', async () => {
    const bench = new OwnerBench();
    const [one, two] = [await bench.ask(), await bench.ask()];
    one.release();
    one.release();
    expect(bench.owner.record().active).toBe(1);
    two.release();
    expect(bench.owner.record()).toMatchObject({ active: 0, state: 'ready' });
  });

  it('is told once that the load is decided, and not at all when it is refused', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const told: string[] = [];
    const one = bench.ask({ onDecided: () => told.push('one') });
    const two = bench.ask({ onDecided: () => told.push('two') });
    await settle();
    expect(told).toEqual(['one', 'two']);
    bench.runner.last.load();
    await Promise.all([one, two]);
    expect(told).toEqual(['one', 'two']);
    const other = new OwnerBench();
    other.model = null;
    await refused(other.ask({ onDecided: () => told.push('three') }));
    await settle();
    expect(told).toHaveLength(2);
  });

  it('is told nothing while figures are read for its load, which may still be refused', async () => {
    const bench = new OwnerBench();
    Object.assign(bench, { waitFor: [], undecided: true });
    const told: string[] = [];
    const one = bench.ask({ onDecided: () => told.push('one') });
    await settle();
    expect(told).toEqual([]);
    bench.undecided = false;
    bench.owner.retry();
    await settle();
    expect(told).toEqual(['one']);
    bench.waitFor = null;
    bench.owner.retry();
    (await one).release();
  });

  it('a disabled slot is refused', async () => {
    expect(await refused(new OwnerBench('enabled = false').ask())).toMatchObject({ code: 'slot.disabled' });
  });

  it('a slot without a model is refused without hope and stays offline', async () => {
    const bench = new OwnerBench();
    bench.model = null;
    const error = await refused(bench.ask());
    expect(error.code).toBe('slot.failed');
    expect(error.headers()['x-should-retry']).toBe('false');
    expect(bench.state).toBe('offline');
  });

  it('refused memory is 507 with the sum, and no failure of the slot', async () => {
    const bench = new OwnerBench();
    bench.refusal = noMemoryError('agent', sumOf({ needed: 1e9, free: 0, reserved: 0 }));
    const error = await refused(bench.ask());
    expect([error.status, error.options.details]).toEqual([
      507,
      expect.objectContaining({ needed: 1e9, free: 0 }),
    ]);
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
    bench.refusal = null;
    (await bench.ask()).release();
  });
});

describe('the queue', () => {
  it('is bounded: 429 with Retry-After and the position', async () => {
    const bench = new OwnerBench('parallel = 1');
    const held = await bench.ask();
    bench.queueMax = 2;
    const waiting = [bench.ask(), bench.ask()];
    const error = await refused(bench.ask());
    expect([error.status, error.code, error.options.details]).toEqual([
      429,
      'slot.queue_full',
      { slot: 'agent', position: 3 },
    ]);
    expect(Number(error.headers()['retry-after'])).toBeGreaterThan(0);
    expect(bench.owner.record().queued).toBe(2);
    held.release();
    (await waiting[0])?.release();
    (await waiting[1])?.release();
  });

  it('serves interactive callers first and takes out who leaves', async () => {
    const bench = new OwnerBench('parallel = 1');
    const held = await bench.ask();
    const order: string[] = [];
    const leaver = new AbortController();
    const asked = [
      bench.ask({ priority: 'batch' }).then((lease) => [order.push('batch'), lease.release()]),
      bench.ask({ signal: leaver.signal }),
      bench.ask().then((lease) => [order.push('interactive'), lease.release()]),
    ];
    leaver.abort(new Error('gone'));
    await expect(asked[1]).rejects.toThrow('gone');
    held.release();
    await Promise.all([asked[0], asked[2]]);
    expect(order).toEqual(['interactive', 'batch']);
  });

  it('an aborted caller starts nothing', async () => {
    const bench = new OwnerBench();
    await expect(bench.ask({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(bench.runner.starts).toBe(0);
  });
});
