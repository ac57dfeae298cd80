import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHardware, type Hardware } from '../hardware/hardware.ts';
import {
  type Command,
  type FakeMachine,
  fakeMachine,
  type MachineName,
} from '../hardware/testing/fake-machine.ts';
import { createLog } from '../lib/log.ts';
import type { Lease } from '../slots/lifecycle/lease.ts';
import type { Slots } from '../slots/slots.ts';
import { MODEL } from '../slots/testing/controller-bench.ts';
import { ManualClock, settle } from '../slots/testing/manual-clock.ts';
import { ScriptedRunner } from '../slots/testing/scripted-runner.ts';
import { SlotsBench } from '../slots/testing/slots-bench.ts';
import { memoryHeadroom } from './memory-headroom.ts';

const GIB = 1024 ** 3;
const CARD = '0000:84:00.0';
const GRAPHICS = '0000:c3:00.0';
const FULL_MIB = 16_500;

/** Slots with scripted engines on a recorded machine. The test controls its clock and the figures of its GPU. */
class CardBench {
  readonly slots = new SlotsBench();
  readonly clock = new ManualClock();
  readonly runner = new ScriptedRunner();
  readonly machine: FakeMachine;
  readonly hardware: Hardware;
  #vramFree: number | null = null;

  constructor(name: MachineName) {
    this.machine = fakeMachine(name);
    this.runner.device = 'cuda';
    this.hardware = createHardware({
      log: createLog({ level: 'silent', write: () => {} }),
      bus: this.slots.bus,
      root: this.machine.root,
      path: this.machine.path,
      nodeAccess: async () => 'ok',
      backends: () => ['vulkan', 'cuda'],
      expectsProbe: true,
    });
  }

  /** Slots `agent` (16 GiB) and `coder` (14 GiB). A GPU of 24 GiB can hold one of them. */
  open(agent: string): Slots {
    this.slots.slotFile('agent', `model = "agent"\n${agent}`);
    this.slots.slotFile('coder', 'model = "coder"');
    return this.slots.open({
      runner: this.runner,
      clock: this.clock,
      queryEngine: async () => ({
        status: 200,
        body: '{"data":[{"id":"agent"},{"id":"coder"}],"choices":[{}]}',
      }),
      modelFor: ({ model }) => ({
        ...MODEL,
        id: model ?? '',
        sizeBytes: (model === 'agent' ? 16 : 14) * GIB,
      }),
      headroom: (device, needed, planned) => memoryHeadroom(this.hardware, device, needed, planned),
    });
  }

  #nvidia(change: (command: Command) => Command): void {
    this.machine.change((one) => (one.argv[0] === 'nvidia-smi' ? change(one) : one));
  }

  /** Sets the figures of the next reading of the GPU. */
  setUsedMib(mib: number): void {
    const figures = `24564, ${mib}, ${24216 - mib}`;
    this.#nvidia((one) => ({ ...one, stdout: one.stdout?.replace(/24564, \d+, \d+/, figures) ?? '' }));
  }

  /** Sets the available memory of the next reading of the integrated GPU. */
  leaves(free: number): void {
    const file = join(this.machine.root, 'sys/bus/pci/devices', GRAPHICS, 'mem_info_vram_used');
    this.#vramFree ??=
      Number(readFileSync(file, 'utf8')) + (this.hardware.view()?.pools[0]?.available_bytes ?? 0);
    writeFileSync(file, String(this.#vramFree - free));
  }

  breakTool(): void {
    this.#nvidia((one) => ({ ...one, exit: 9, stdout: 'NVIDIA-SMI has failed' }));
  }

  async advance(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await this.clock.advance(ms);
  }

  /** Advances the clock until a condition holds. */
  async until(holds: () => boolean): Promise<void> {
    const limit = Date.now() + 20_000;
    while (!holds()) {
      if (Date.now() > limit) throw new Error('it never came true');
      await pause(5);
      await this.advance(50);
    }
  }

  async outcome<T>(load: Promise<T>): Promise<T> {
    let done = false;
    const end = () => {
      done = true;
    };
    load.then(end, end);
    await this.until(() => done);
    return load;
  }

  async remove(): Promise<void> {
    await this.slots.remove();
    this.hardware.close();
    this.machine.remove();
  }
}

let bench: CardBench;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await bench.remove();
});
const request = (slots: Slots, name: string): Promise<Lease> =>
  slots.ensureReady(name, { signal: new AbortController().signal, stream: false });
const states = (slots: Slots) => ['agent', 'coder'].map((name) => slots.get(name)?.state);

describe('stale figures of a GPU', () => {
  it('are refreshed before a load is admitted: figures from before another load would admit both', async () => {
    bench = new CardBench('nvidia-single');
    await bench.hardware.probeDevices();
    const slots = bench.open('autoload = false');
    await bench.advance(5_200);
    await bench.outcome(slots.load('agent'));
    bench.setUsedMib(FULL_MIB);
    await bench.advance(7_000);
    const load = request(slots, 'coder');
    expect(states(slots), 'no slot is evicted before they are read').toEqual(['ready', 'offline']);
    await bench.until(() => slots.get('agent')?.state === 'offline');
    bench.setUsedMib(2);
    (await bench.outcome(load)).release();
    expect(states(slots)).toEqual(['offline', 'ready']);
  });

  it('are refreshed before a load is refused: figures from before an idle unload would leave no headroom', async () => {
    bench = new CardBench('nvidia-single');
    await bench.hardware.probeDevices();
    const slots = bench.open('autoload = false\nidle_unload = 2');
    await bench.outcome(slots.load('agent'));
    bench.setUsedMib(FULL_MIB);
    await bench.hardware.probeDevices();
    await bench.advance(2_300);
    expect(slots.get('agent')?.state).toBe('offline');
    bench.setUsedMib(2);
    await bench.advance(7_500);
    (await bench.outcome(request(slots, 'agent'))).release();
  });
});

describe('a start', () => {
  it('with a GPU waits for the first probe, so that loads count on the device where they run and can be evicted', async () => {
    bench = new CardBench('nvidia-single');
    const slots = bench.open('autoload = true');
    await settle();
    expect(bench.runner.starts).toBe(0);
    await bench.hardware.probeDevices();
    await bench.until(() => slots.get('agent')?.state === 'ready');
    expect(slots.get('agent')?.memory).toMatchObject({ pool: CARD });
    bench.setUsedMib(FULL_MIB);
    await bench.advance(7_000);
    const load = request(slots, 'coder');
    await bench.until(() => slots.get('agent')?.state === 'offline');
    bench.setUsedMib(2);
    (await bench.outcome(load)).release();
  });

  it('without a GPU does not wait', async () => {
    bench = new CardBench('no-gpu');
    const slots = bench.open('autoload = true');
    await settle();
    expect([bench.hardware.view(), slots.get('agent')?.state]).toEqual([null, 'ready']);
  });
});

describe('a GPU whose tool fails', () => {
  it.each(['auto', 'cuda:0'])('keeps its loads with device %s, less what slots use there', async (device) => {
    bench = new CardBench('nvidia-single');
    await bench.hardware.probeDevices();
    const slots = bench.open(`autoload = false\ndevice = "${device}"`);
    await bench.outcome(slots.load('agent'));
    bench.breakTool();
    await bench.advance(7_000);
    (await bench.outcome(request(slots, 'coder'))).release();
    expect(states(slots)).toEqual(['offline', 'ready']);
    expect(slots.get('coder')?.memory).toMatchObject({ pool: CARD });
  });
});

describe('an integrated GPU whose figures are some seconds old', () => {
  /** 24 GiB are free of their pool. */
  async function opened(): Promise<Slots> {
    bench = new CardBench('amd-strix-halo-carveout-no-npu');
    bench.runner.device = 'vulkan';
    await bench.hardware.probeDevices();
    bench.leaves(24 * GIB);
    await bench.hardware.probeDevices();
    return bench.open('autoload = false');
  }

  it('does not count as free before the figures show a model that has just become ready', async () => {
    const slots = await opened();
    await bench.outcome(slots.load('agent'));
    bench.leaves(8 * GIB);
    const load = request(slots, 'coder');
    await bench.advance(1_000);
    expect(states(slots)).toEqual(['ready', 'offline']);
    await bench.until(() => slots.get('agent')?.state === 'offline');
    bench.leaves(24 * GIB);
    (await bench.outcome(load)).release();
  });

  it('refuses no load while the figures still show a model that was just unloaded', async () => {
    const slots = await opened();
    await bench.outcome(slots.load('agent'));
    bench.leaves(8 * GIB);
    await bench.advance(7_000);
    await bench.hardware.probeDevices();
    const load = request(slots, 'coder');
    await bench.until(() => slots.get('agent')?.state === 'offline');
    bench.leaves(24 * GIB);
    (await bench.outcome(load)).release();
    expect(states(slots)).toEqual(['offline', 'ready']);
  });
});
