import { describe, expect, it } from 'vitest';
import { ControllerBench, MODEL } from '../testing/controller-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import { refusalOf } from '../testing/refusal-of.ts';

describe('waiting for a load', () => {
  it.each([
    [false, 300_000],
    [true, 600_000],
  ])('stream %s: 503 slot.loading after %i ms, with the progress', async (stream, limit) => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    bench.model = { ...MODEL, sizeBytes: 1e13 };
    const load = bench.controller.load();
    const request = bench.request({ stream });
    bench.runner.last.share = 0.25;
    await bench.clock.advance(limit - 1);
    expect(bench.controller.record().queued).toBe(1);
    await bench.clock.advance(1);
    const error = await refusalOf(request);
    expect([error.code, error.options.details]).toEqual(['slot.loading', { slot: 'agent', progress: 0.25 }]);
    expect(error.headers()['retry-after']).toBe('10');
    bench.runner.last.load();
    await load;
  });

  it('a load without a waiting caller is stopped', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const disconnects = [new AbortController(), new AbortController()];
    for (const disconnect of disconnects) bench.request({ signal: disconnect.signal });
    disconnects[0]?.abort();
    await settle();
    expect(bench.state).toBe('starting');
    disconnects[1]?.abort();
    await settle();
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
    expect(bench.runner.last.stops).toHaveLength(1);
  });

  it('a load that an admin requested is not stopped', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const loaded = bench.controller.load();
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    disconnect.abort();
    await settle();
    bench.runner.last.load();
    await loaded;
    expect(bench.state).toBe('ready');
  });

  it('a caller that arrives while a cancelled load is being ended gets a new one', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    bench.runner.last.stopsOnRequest = false;
    disconnect.abort();
    await settle();
    expect(bench.state).toBe('stopping');
    const request = bench.request();
    bench.runner.loadsAtOnce = true;
    bench.runner.last.end();
    (await request).release();
    expect(bench.runner.starts).toBe(2);
  });

  it('P04: a model that does not load in time fails, its engine is ended before the slot is in error', async () => {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    const request = refusalOf(bench.request());
    bench.runner.last.stopsOnRequest = false;
    await bench.clock.advance(60_001);
    expect(bench.state).toBe('stopping');
    bench.runner.last.end();
    expect((await request).options.details).toMatchObject({
      reason: 'The model was not loaded within 60 s.',
    });
    expect(bench.state).toBe('error');
  });

  it('an engine that is loaded but fails its checks is not ready', async () => {
    const bench = new ControllerBench();
    bench.check = async () => {
      throw new Error('anything');
    };
    expect(await refusalOf(bench.request())).toMatchObject({ code: 'slot.failed' });
    expect(bench.states).toEqual(['offline', 'starting', 'warming', 'stopping', 'error']);
  });
});

describe('an engine whose image has to be pulled', () => {
  function pulling(): ControllerBench {
    const bench = new ControllerBench();
    bench.runner.loadsAtOnce = false;
    bench.runner.needsFetch = true;
    return bench;
  }

  it('is pulling in the meantime, with its progress; the load limit begins afterwards', async () => {
    const bench = pulling();
    const loaded = bench.controller.load();
    bench.runner.last.share = 0.5;
    await bench.clock.advance(3_600_000);
    expect(bench.controller.record()).toMatchObject({ state: 'pulling', progress: 0.5 });
    bench.runner.last.finishFetch();
    await settle();
    expect(bench.state).toBe('starting');
    await bench.clock.advance(59_000);
    bench.runner.last.load();
    await loaded;
    expect(bench.controller.record().state).toBe('ready');
    expect(bench.controller.record().progress).toBeUndefined();
    expect(bench.states).toEqual(['offline', 'pulling', 'starting', 'warming', 'ready']);
  });

  it('is stopped when no caller waits for it', async () => {
    const bench = pulling();
    const disconnect = new AbortController();
    bench.request({ signal: disconnect.signal });
    await settle();
    disconnect.abort();
    await settle();
    expect(bench.states).toEqual(['offline', 'pulling', 'stopping', 'offline']);
    expect(bench.runner.last.stops).toHaveLength(1);
  });

  it('fails with its reason when the image cannot be pulled', async () => {
    const bench = pulling();
    const request = bench.request();
    bench.runner.last.end('The image x could not be fetched: no such host');
    expect((await refusalOf(request)).options.details).toMatchObject({
      reason: expect.stringContaining('no such host'),
    });
    expect(bench.states).toEqual(['offline', 'pulling', 'stopping', 'error']);
  });
});
