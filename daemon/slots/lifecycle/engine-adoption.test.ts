import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MODEL } from '../testing/controller-bench.ts';
import { ManualClock, settle } from '../testing/manual-clock.ts';
import { ScriptedRunner } from '../testing/scripted-runner.ts';
import { SlotsBench } from '../testing/slots-bench.ts';
import { EngineAdoption } from './engine-adoption.ts';

/** A runner whose engines outlive their gateway. */
class KeepingRunner extends ScriptedRunner {
  readonly calls: string[] = [];
  readonly found = Promise.withResolvers<ReadonlySet<string>>();

  reconcile(wantedSlots: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    this.calls.push(`reconcile ${[...wantedSlots].sort().join(' ')}`);
    return this.found.promise;
  }

  detach(): void {
    this.calls.push('retire');
  }
}

let bench: SlotsBench;
let runner: KeepingRunner;
beforeEach(() => {
  bench = new SlotsBench();
  bench.model = MODEL;
  bench.slotFile('agent', 'autoload = false');
  bench.slotFile('boxed', 'model = "tiny"\nbatch = 64');
  bench.slotFile('asleep', 'model = "tiny"\nenabled = false');
  runner = new KeepingRunner();
});
afterEach(() => bench.remove());

const fit = async () => ({ status: 200, body: '{"data":[{"id":"tiny"}],"choices":[{}]}' });
const open = () => bench.open({ runner, clock: new ManualClock(), queryEngine: fit });

describe('engines that an earlier gateway left running', () => {
  it('a runner gets the wanted slots once: the enabled ones', () => {
    open();
    expect(runner.calls).toEqual(['reconcile agent boxed']);
  });

  it('are adopted without a request, however much memory is free', async () => {
    bench.memory = 0;
    const slots = open();
    runner.found.resolve(new Set(['boxed', 'gone']));
    await settle();
    expect(slots.get('boxed')?.state).toBe('ready');
    expect(slots.get('agent')?.state).toBe('offline');
    await slots.unload('boxed');
    await expect(slots.load('boxed')).rejects.toMatchObject({ code: 'slot.no_memory' });
  });

  it('one whose slot was started in the meantime is decided on at its next start', async () => {
    const slots = open();
    await slots.load('boxed');
    runner.found.resolve(new Set(['boxed']));
    await settle();
    expect(runner.starts).toBe(1);
    await slots.unload('boxed');
    bench.memory = 0;
    await expect(slots.load('boxed')).rejects.toMatchObject({ code: 'slot.no_memory' });
  });

  it('one that could not be adopted is decided on when its slot is loaded later', async () => {
    const slots = open();
    runner.found.resolve(new Set(['asleep']));
    await settle();
    expect(runner.starts).toBe(0);
    await slots.change('asleep', { enabled: true });
    bench.memory = 0;
    await expect(slots.load('asleep')).rejects.toMatchObject({ code: 'slot.no_memory' });
  });

  it('a stop notifies the runner before it stops the first engine', async () => {
    const slots = open();
    runner.found.resolve(new Set(['boxed']));
    await settle();
    const stopped = slots.stop(0);
    expect(runner.calls.at(-1)).toBe('retire');
    await stopped;
    expect(runner.last.stops).toHaveLength(1);
  });

  it('an engine that is found after the stop is not touched', async () => {
    const slots = open();
    await slots.stop(0);
    runner.found.resolve(new Set(['boxed']));
    await settle();
    expect(runner.starts).toBe(0);
  });
});

describe('the engine of a slot is known to run', () => {
  /** Returns an adoption that has found one engine whose load is pending. */
  async function found(runs: boolean) {
    const load = Promise.withResolvers<void>();
    const runners = { worker: runner, process: runner, container: runner, attach: runner };
    const adoption = new EngineAdoption(runners, { isRunning: () => runs, loadOwn: () => load.promise });
    adoption.discover(new Set(['boxed']));
    runner.found.resolve(new Set(['boxed']));
    await settle();
    return { adoption, load };
  }

  it('until its start begins, whether it succeeds or fails', async () => {
    const { adoption } = await found(false);
    expect([adoption.has('boxed'), adoption.has('agent')]).toEqual([true, false]);
    adoption.started('boxed');
    expect(adoption.has('boxed')).toBe(false);
  });

  it('or until its load settles without a start', async () => {
    const { adoption, load } = await found(false);
    load.resolve();
    await settle();
    expect(adoption.has('boxed')).toBe(false);
  });

  it('but not if the slot was started before the engine was found', async () => {
    const { adoption } = await found(true);
    expect(adoption.has('boxed')).toBe(false);
  });
});
