import { describe, expect, it } from 'vitest';
import { settle } from '../testing/manual-clock.ts';
import { MODEL, OwnerBench, slotConfig } from '../testing/owner-bench.ts';
import { refused } from '../testing/refused.ts';

describe('unload and restart', () => {
  it('drains: running requests end, then the engine; a deliberate stop is no error', async () => {
    const bench = new OwnerBench();
    const lease = await bench.ask();
    const unloaded = bench.owner.unload();
    await settle();
    expect([bench.state, bench.runner.last.stops]).toEqual(['draining', []]);
    lease.release();
    await unloaded;
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('loses nobody: who waits or comes while it drains is served by a new load', async () => {
    const bench = new OwnerBench('parallel = 1');
    const lease = await bench.ask();
    const waiting = bench.ask();
    const unloaded = bench.owner.unload();
    const late = bench.ask();
    lease.release();
    await unloaded;
    (await waiting).release();
    (await late).release();
    expect(bench.runner.starts).toBe(2);
  });

  it('P09: stop during start is stopped, and who waited is told', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const asked = refused(bench.ask());
    await bench.owner.unload();
    expect(await asked).toMatchObject({ code: 'slot.draining', status: 503 });
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 1]);
  });

  it('unloading a failed slot forgets the failure and its next try', async () => {
    const bench = new OwnerBench();
    await bench.failTimes(2);
    await bench.owner.unload();
    await bench.clock.advance(1_000_000);
    expect([bench.state, bench.runner.starts]).toEqual(['offline', 2]);
  });

  it('restart during a load cuts that, and who waited is served by the new engine', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const asked = bench.ask();
    const restarted = bench.owner.restart();
    bench.runner.instant = true;
    (await asked).release();
    await restarted;
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });

  it('restart of a load that waits for memory keeps who waits for it', async () => {
    const bench = new OwnerBench();
    bench.waitFor = ['other'];
    const asked = bench.ask();
    const restarted = bench.owner.restart();
    expect(bench.owner.record()).toMatchObject({ state: 'offline', queued: 1 });
    bench.waitFor = null;
    bench.owner.retry();
    (await asked).release();
    await restarted;
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 1]);
  });

  it('restart ends with a new engine', async () => {
    const bench = new OwnerBench();
    await bench.owner.load();
    await bench.owner.restart();
    expect([bench.state, bench.runner.starts]).toEqual(['ready', 2]);
  });
});

describe('idle unload', () => {
  it('happens after the time without a request; looking does not prolong it', async () => {
    const bench = new OwnerBench('', 'utility');
    const lease = await bench.ask();
    await bench.clock.advance(10_000_000);
    expect(bench.state).toBe('serving');
    lease.release();
    for (let minute = 0; minute < 14; minute++) {
      await bench.clock.advance(60_000);
      bench.owner.record();
    }
    expect(bench.state).toBe('ready');
    await bench.clock.advance(60_000);
    expect(bench.owner.record()).toMatchObject({ state: 'offline', failure: null });
  });

  it('agent stays', async () => {
    const bench = new OwnerBench();
    (await bench.ask()).release();
    await bench.clock.advance(100_000_000);
    expect(bench.state).toBe('ready');
  });
});

describe('settings and models that change', () => {
  it('a slot that is disabled drains, refuses who waits, and takes nobody', async () => {
    const bench = new OwnerBench('parallel = 1');
    const lease = await bench.ask();
    const waiting = refused(bench.ask());
    bench.owner.configure(slotConfig('agent', 'enabled = false'));
    expect((await waiting).code).toBe('slot.disabled');
    lease.release();
    await settle();
    expect(bench.state).toBe('offline');
    expect((await refused(bench.ask())).code).toBe('slot.disabled');
  });

  it('the demonstration model steps aside for a real one, without cutting an answer', async () => {
    const bench = new OwnerBench();
    bench.model = { ...MODEL, id: 'demo', demo: true };
    const lease = await bench.ask();
    expect(bench.owner.record()).toMatchObject({ model: 'demo', demo: true });
    bench.model = MODEL;
    bench.owner.refreshModel();
    expect(bench.state).toBe('draining');
    lease.release();
    await settle();
    expect(bench.owner.record()).toMatchObject({ state: 'ready', model: 'tiny', demo: false });
  });
});

describe('close', () => {
  it('lets answers end within the limit and refuses new requests with Retry-After', async () => {
    const bench = new OwnerBench('parallel = 1');
    const lease = await bench.ask();
    const waiting = refused(bench.ask());
    const closed = bench.owner.close(15_000);
    expect((await waiting).code).toBe('slot.draining');
    const error = await refused(bench.ask());
    expect([error.status, error.headers()['retry-after']]).toEqual([503, '10']);
    lease.release();
    await closed;
    expect([bench.state, bench.runner.last.stops]).toEqual(['offline', [10_000]]);
  });

  it('cuts what is left when the limit is over', async () => {
    const bench = new OwnerBench();
    await bench.ask();
    const closed = bench.owner.close(15_000);
    await bench.clock.advance(15_000);
    await closed;
    expect([bench.state, bench.runner.last.stops]).toEqual(['offline', [2_000]]);
  });

  it('cuts a load, and leaves a failed slot as it is without another try', async () => {
    const bench = new OwnerBench();
    bench.runner.instant = false;
    const held = refused(bench.owner.load());
    await bench.owner.close(0);
    expect((await held).code).toBe('slot.draining');
    expect(bench.state).toBe('offline');
    const failed = new OwnerBench();
    await failed.failTimes(1);
    await failed.owner.close(0);
    await failed.clock.advance(1_000_000);
    expect([failed.state, failed.runner.starts]).toEqual(['error', 1]);
  });
});
