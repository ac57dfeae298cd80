import { describe, expect, it } from 'vitest';
import { ControllerBench } from '../testing/controller-bench.ts';
import { refusalOf } from '../testing/refusal-of.ts';
import { HUNG_REASON, WATCH_PACE } from './watch.ts';

const DETECTED = WATCH_PACE.maxMisses * (WATCH_PACE.intervalMs + WATCH_PACE.timeoutMs);

async function readyBench(): Promise<ControllerBench> {
  const bench = new ControllerBench();
  (await bench.request()).release();
  return bench;
}

describe('an engine that hangs', () => {
  it('is killed, counts as a failure with that reason, and is started again', async () => {
    const bench = await readyBench();
    bench.probe = () => new Promise(() => {});
    await bench.clock.advance(DETECTED);
    expect(bench.runner.last.stops).toEqual([0]);
    expect(bench.controller.record()).toMatchObject({
      state: 'error',
      failure: { reason: HUNG_REASON, failures: 1 },
    });
    expect((await refusalOf(bench.request())).options.details?.reason).toBe(HUNG_REASON);
    bench.probe = async () => {};
    await bench.clock.advance(5_000);
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
    await bench.clock.advance(DETECTED);
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('is detected while it serves, where it responds to probes while serving', async () => {
    const bench = new ControllerBench();
    await bench.request();
    bench.probe = () => new Promise(() => {});
    await bench.clock.advance(DETECTED);
    expect(bench.controller.record()).toMatchObject({
      state: 'error',
      failure: { reason: HUNG_REASON },
      active: 0,
    });
  });

  it('is not probed while it serves, where it may be too busy to respond', async () => {
    const bench = new ControllerBench();
    bench.answersWhileServing = false;
    const lease = await bench.request();
    bench.probe = () => Promise.reject(new Error('busy'));
    await bench.clock.advance(10 * DETECTED);
    expect(bench.state).toBe('serving');
    lease.release();
    await bench.clock.advance(DETECTED);
    expect(bench.states).toContain('error');
  });

  it('that is detected while it drains ends the drain', async () => {
    const bench = new ControllerBench();
    await bench.request();
    const unloaded = bench.controller.unload();
    bench.probe = () => Promise.reject(new Error('disconnected'));
    await bench.clock.advance(DETECTED);
    await unloaded;
    expect(bench.controller.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('is not probed once it was unloaded', async () => {
    const bench = await readyBench();
    let queries = 0;
    bench.probe = async () => {
      queries += 1;
    };
    await bench.controller.unload();
    await bench.clock.advance(DETECTED);
    expect(queries).toBe(0);
  });
});
