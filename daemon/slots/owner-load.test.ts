import { describe, expect, it } from 'vitest';
import { noMemoryError } from './refusals.ts';
import { settle } from './testing/manual-clock.ts';
import { sumOf } from './testing/memory.ts';
import { MODEL, OwnerBench } from './testing/owner-bench.ts';
import { refused } from './testing/refused.ts';

describe('waiting for a load', () => {
  it.each([
    [false, 300_000],
    [true, 600_000],
  ])('stream %s: 503 slot.loading after %i ms, with the progress', async (stream, limit) => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    bench.model = { ...MODEL, sizeBytes: 1e13 };
    const held = bench.owner.load();
    const asked = bench.ask({ stream });
    bench.runner.last.share = 0.25;
    await bench.clock.advance(limit - 1);
    expect(bench.owner.record().queued).toBe(1);
    await bench.clock.advance(1);
    const error = await refused(asked);
    expect([error.code, error.options.details]).toEqual(['slot.loading', { slot: 'agent', progress: 0.25 }]);
    expect(error.headers()['retry-after']).toBe('10');
    bench.runner.last.load();
    await held;
  });

  it('a load that nobody waits for any more is stopped', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const leavers = [new AbortController(), new AbortController()];
    for (const leaver of leavers) bench.ask({ signal: leaver.signal });
    leavers[0]?.abort();
    await settle();
    expect(bench.state).toBe('starting');
    leavers[1]?.abort();
    await settle();
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
    expect(bench.runner.last.stops).toHaveLength(1);
  });

  it('an admin who asked for it holds the load', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const loaded = bench.owner.load();
    const leaver = new AbortController();
    bench.ask({ signal: leaver.signal });
    leaver.abort();
    await settle();
    bench.runner.last.load();
    await loaded;
    expect(bench.state).toBe('ready');
  });

  it('whoever comes while a cut load is being ended gets a new one', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const leaver = new AbortController();
    bench.ask({ signal: leaver.signal });
    bench.runner.last.obedient = false;
    leaver.abort();
    await settle();
    expect(bench.state).toBe('stopping');
    const asked = bench.ask();
    bench.runner.instant = true;
    bench.runner.last.end();
    (await asked).release();
    expect(bench.runner.starts).toBe(2);
  });

  it('P04: a model that does not load in time fails, its engine is ended before the slot is in error', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const asked = refused(bench.ask());
    bench.runner.last.obedient = false;
    await bench.clock.advance(60_001);
    expect(bench.state).toBe('stopping');
    bench.runner.last.end();
    expect((await asked).options.details).toMatchObject({ reason: 'The model was not loaded within 60 s.' });
    expect(bench.state).toBe('error');
  });

  it('an engine that is loaded but fails its checks is not ready', async () => {
    const bench = new OwnerBench();
    bench.check = async () => {
      throw new Error('anything');
    };
    expect(await refused(bench.ask())).toMatchObject({ code: 'slot.failed' });
    expect(bench.states).toEqual(['offline', 'starting', 'warming', 'stopping', 'error']);
  });
});

/** The slot is asked anew by a caller who leaves at once; its engine takes its time to end. */
async function leavesALoad(bench: OwnerBench): Promise<void> {
  bench.owner.evict();
  await settle();
  bench.runner.instant = false;
  const leaver = new AbortController();
  bench.ask({ signal: leaver.signal });
  bench.runner.last.obedient = false;
  leaver.abort();
  await settle();
}

describe('failure', () => {
  it('a crash in service is an error with its reason, and the next try comes by itself after 5 s', async () => {
    const bench = new OwnerBench();
    const lease = await bench.ask();
    bench.runner.last.end('The engine was killed.');
    await settle();
    expect(bench.owner.record()).toMatchObject({
      state: 'error',
      active: 0,
      failure: {
        reason: 'The engine was killed.',
        failures: 1,
        parked: false,
        retry_at: bench.clock.now() + 5_000,
      },
    });
    const error = await refused(bench.ask());
    expect([error.code, error.headers()['retry-after']]).toEqual(['slot.failed', '5']);
    lease.release();
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
    const next = await bench.ask();
    lease.release();
    expect(bench.owner.record().active).toBe(1);
    next.release();
  });

  it('callers who wait when the load fails are refused with the reason', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const asked = refused(bench.ask());
    bench.runner.last.end('unknown architecture');
    expect((await asked).options.details).toMatchObject({ reason: 'unknown architecture', failures: 1 });
  });

  it('is tried again after 5, 15, 45 and 135 s; the fifth failure parks it (P01)', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(5);
    expect(bench.runner.starts).toBe(5);
    expect(bench.owner.record().failure).toEqual({
      reason: 'failure 5',
      failures: 5,
      parked: true,
      retry_at: null,
    });
    const error = await refused(bench.ask());
    expect(error.headers()).toEqual({ 'x-should-retry': 'false' });
    await bench.clock.advance(299_000);
    expect(bench.runner.starts).toBe(5);
  });

  it('parked: one request per 300 s is the trial', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(5);
    await bench.clock.advance(300_000);
    bench.runner.instant = false;
    const trial = refused(bench.ask());
    bench.runner.last.end('failure 6');
    expect((await trial).code).toBe('slot.failed');
    await refused(bench.ask());
    expect(bench.runner.starts).toBe(6);
    await bench.clock.advance(300_000);
    bench.runner.instant = true;
    (await bench.ask()).release();
    expect(bench.owner.record()).toMatchObject({ state: 'ready', failure: null });
  });

  it('a trial whose caller leaves puts the slot back where it was', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(5);
    await bench.clock.advance(300_000);
    bench.runner.instant = false;
    const leaver = new AbortController();
    bench.ask({ signal: leaver.signal });
    leaver.abort();
    await settle();
    expect(bench.owner.record()).toMatchObject({ state: 'error', failure: { failures: 5, parked: true } });
  });

  it('an ordinary load whose caller leaves leaves the slot offline, whatever has failed before', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(1);
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
    await leavesALoad(bench);
    expect(bench.state).toBe('stopping');
    bench.runner.last.end();
    await settle();
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
    const starts = bench.runner.starts;
    await bench.clock.advance(600_000);
    expect([bench.state, bench.runner.starts]).toEqual(['offline', starts]);
    bench.runner.instant = true;
    (await bench.ask()).release();
  });

  it('and who comes while such a load is being ended gets a new one', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(1);
    await bench.clock.advance(5_000);
    await leavesALoad(bench);
    const asked = bench.ask();
    bench.runner.instant = true;
    bench.runner.last.end();
    (await asked).release();
    expect(bench.state).toBe('ready');
  });

  it('parked: an admin may load at any time', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(5);
    await bench.owner.load();
    expect(bench.state).toBe('ready');
  });

  it('ten minutes of serving reset the count, nine do not', async () => {
    for (const [minutes, failures] of [
      [9, 4],
      [10, 1],
    ] as const) {
      const bench = new OwnerBench();
      await bench.failTimes(3);
      await bench.clock.advance(45_000);
      await bench.clock.advance(minutes * 60_000);
      bench.runner.last.end();
      await settle();
      expect(bench.owner.record().failure?.failures).toBe(failures);
    }
  });

  it('a retry that memory refuses counts no failure and comes again', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(1);
    bench.refusal = noMemoryError('agent', sumOf({ needed: 1e9, free: 0, reserved: 0 }));
    await bench.clock.advance(5_000);
    expect(bench.owner.record()).toMatchObject({ state: 'error', failure: { failures: 1 } });
    bench.refusal = null;
    await bench.clock.advance(5_000);
    expect(bench.state).toBe('ready');
  });
});

describe('an engine whose image has to be fetched', () => {
  function pulling(): OwnerBench {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    bench.runner.fetches = true;
    return bench;
  }

  it('is pulling meanwhile, with its share; the limit of the load begins afterwards', async () => {
    const bench = pulling();
    const loaded = bench.owner.load();
    bench.runner.last.share = 0.5;
    await bench.clock.advance(3_600_000);
    expect(bench.owner.record()).toMatchObject({ state: 'pulling', progress: 0.5 });
    bench.runner.last.fetch();
    await settle();
    expect(bench.state).toBe('starting');
    await bench.clock.advance(59_000);
    bench.runner.last.load();
    await loaded;
    expect(bench.owner.record().state).toBe('ready');
    expect(bench.owner.record().progress).toBeUndefined();
    expect(bench.states).toEqual(['offline', 'pulling', 'starting', 'warming', 'ready']);
  });

  it('is stopped when nobody waits for it any more', async () => {
    const bench = pulling();
    const leaver = new AbortController();
    bench.ask({ signal: leaver.signal });
    await settle();
    leaver.abort();
    await settle();
    expect(bench.states).toEqual(['offline', 'pulling', 'stopping', 'offline']);
    expect(bench.runner.last.stops).toHaveLength(1);
  });

  it('fails with its reason when the image cannot be had', async () => {
    const bench = pulling();
    const asked = bench.ask();
    bench.runner.last.end('The image x could not be fetched: no such host');
    expect((await refused(asked)).options.details).toMatchObject({
      reason: expect.stringContaining('no such host'),
    });
    expect(bench.states).toEqual(['offline', 'pulling', 'stopping', 'error']);
  });
});
