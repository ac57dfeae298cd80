import { describe, expect, it } from 'vitest';
import { OwnerBench } from '../testing/owner-bench.ts';
import { refused } from '../testing/refused.ts';
import { HUNG, WATCH_PACE } from './watch.ts';

const DETECTED = WATCH_PACE.misses * (WATCH_PACE.everyMs + WATCH_PACE.limitMs);

async function readyBench(): Promise<OwnerBench> {
  const bench = new OwnerBench();
  (await bench.ask()).release();
  return bench;
}

describe('an engine that hangs', () => {
  it('is killed, is a failure with that reason, and is started anew', async () => {
    const bench = await readyBench();
    bench.sign = () => new Promise(() => {});
    await bench.clock.advance(DETECTED);
    expect(bench.runner.last.stops).toEqual([0]);
    expect(bench.owner.record()).toMatchObject({ state: 'error', failure: { reason: HUNG, failures: 1 } });
    expect((await refused(bench.ask())).options.details?.reason).toBe(HUNG);
    bench.sign = async () => {};
    await bench.clock.advance(5_000);
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
    await bench.clock.advance(DETECTED);
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('is found while it serves, where its health is answered beside its work', async () => {
    const bench = new OwnerBench();
    await bench.ask();
    bench.sign = () => new Promise(() => {});
    await bench.clock.advance(DETECTED);
    expect(bench.owner.record()).toMatchObject({ state: 'error', failure: { reason: HUNG }, active: 0 });
  });

  it('is left alone while it serves, where it may be too busy to answer', async () => {
    const bench = new OwnerBench();
    bench.answersWhileServing = false;
    const lease = await bench.ask();
    bench.sign = () => Promise.reject(new Error('busy'));
    await bench.clock.advance(10 * DETECTED);
    expect(bench.state).toBe('serving');
    lease.release();
    await bench.clock.advance(DETECTED);
    expect(bench.states).toContain('error');
  });

  it('that is found while it drains ends the drain', async () => {
    const bench = new OwnerBench();
    await bench.ask();
    const unloaded = bench.owner.unload();
    bench.sign = () => Promise.reject(new Error('gone'));
    await bench.clock.advance(DETECTED);
    await unloaded;
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('is not asked once it was unloaded', async () => {
    const bench = await readyBench();
    let asked = 0;
    bench.sign = async () => {
      asked += 1;
    };
    await bench.owner.unload();
    await bench.clock.advance(DETECTED);
    expect(asked).toBe(0);
  });
});
