import { describe, expect, it } from 'vitest';
import { settle } from '../testing/manual-clock.ts';
import { MODEL, OwnerBench } from '../testing/owner-bench.ts';
import { refused } from '../testing/refused.ts';

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
