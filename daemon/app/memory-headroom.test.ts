import { afterEach, describe, expect, it } from 'vitest';
import type { DeviceRecord, HardwareView, MemoryPoolRecord } from '../contract/hardware.ts';
import { MACHINES } from '../hardware/testing/fake-machine.ts';
import { KEEP_FREE_BYTES } from '../slots/admission/eviction.ts';
import { MODEL, slotConfig } from '../slots/testing/controller-bench.ts';
import { admissionOn, probedMachine } from '../test/harness/captured-machine.ts';
import { maxModelBytes, memoryHeadroom } from './memory-headroom.ts';

const GIB = 1024 ** 3;
const card = (id: string, over: Partial<DeviceRecord> = {}): DeviceRecord => ({
  id,
  kind: 'gpu',
  vendor: 'NVIDIA',
  name: id,
  driver: null,
  access: 'ok',
  memory_total_bytes: 8 * GIB,
  memory_used_bytes: 2 * GIB,
  pool: id,
  busy_percent: null,
  power_w: null,
  temperature_c: null,
  unused_reason: null,
  ...over,
});
const pool = (id: string, over: Partial<MemoryPoolRecord> = {}): MemoryPoolRecord => ({
  id,
  kind: 'device',
  total_bytes: 8 * GIB,
  available_bytes: 6 * GIB,
  carveout_bytes: 0,
  limited_by: 'device',
  devices: [id],
  ...over,
});
/** Dedicated memory of a GPU, as its driver reports it. */
const poolOf = ({ id, memory_total_bytes: total, memory_used_bytes: used }: DeviceRecord) =>
  pool(id, { total_bytes: total ?? 0, available_bytes: used === null ? null : (total ?? 0) - used });
const headroom = (
  devices: DeviceRecord[],
  device: string,
  needed = GIB,
  pools = devices.map(poolOf),
  reading = false,
) => {
  const view = { devices, pools } as unknown as HardwareView;
  const machine = { view: () => view, isRefreshing: () => reading, memoryAvailable: () => 32 * GIB };
  const { total: _, ...rest } = memoryHeadroom(machine, device, needed);
  return rest;
};
const host = { pool: 'host', free: 32 * GIB };

describe('memoryHeadroom', () => {
  it("uses the machine's memory for the CPU, and before the first probe", () => {
    expect(headroom([card('a')], 'cpu')).toEqual(host);
    const unprobed = { view: () => null, isRefreshing: () => false, memoryAvailable: () => 32 * GIB };
    expect(memoryHeadroom(unprobed, 'auto', 1)).toEqual(host);
  });

  it('has the total of a card with dedicated memory, and none for shared memory', () => {
    const total = (devices: DeviceRecord[], pools: MemoryPoolRecord[]) => {
      const view = { devices, pools } as unknown as HardwareView;
      const machine = { view: () => view, isRefreshing: () => false, memoryAvailable: () => 32 * GIB };
      return memoryHeadroom(machine, 'auto', GIB).total;
    };
    expect(total([card('a')], [pool('a')])).toBe(8 * GIB);
    const shared = pool('host', { kind: 'unified', total_bytes: 64 * GIB });
    expect(total([card('apu', { pool: 'host' })], [shared])).toBeUndefined();
  });

  it('auto uses the usable GPU with the most free memory', () => {
    const cards = [
      card('small'),
      card('roomy', { memory_used_bytes: 0 }),
      card('locked', { access: 'no_permission', memory_total_bytes: 99 * GIB }),
      card('unseen', { unused_reason: 'no backend', memory_total_bytes: 99 * GIB }),
    ];
    expect(headroom(cards, 'auto')).toMatchObject({ pool: 'roomy', free: 8 * GIB });
  });

  it('auto counts a model that no GPU can hold against the machine', () => {
    expect(headroom([card('a')], 'auto', 9 * GIB)).toEqual(host);
    expect(headroom([card('a')], 'cuda:0', 9 * GIB)).toEqual({ pool: 'a', free: 6 * GIB });
  });

  it('an index selects one GPU of its vendor', () => {
    const cards = [card('amd', { vendor: 'AMD' }), card('n0'), card('n1', { memory_used_bytes: 5 * GIB })];
    expect(headroom(cards, 'cuda:1')).toEqual({ pool: 'n1', free: 3 * GIB });
    expect(headroom(cards, 'rocm:0')).toMatchObject({ pool: 'amd' });
    expect(headroom(cards, 'vulkan:2')).toMatchObject({ pool: 'n1' });
    expect(headroom(cards, 'cuda:7')).toEqual(host);
  });

  it('an integrated GPU uses the shared pool', () => {
    const shared = pool('host', { kind: 'unified', available_bytes: 60 * GIB, total_bytes: 96 * GIB });
    expect(headroom([card('apu', { pool: 'host' })], 'auto', GIB, [shared])).toEqual({
      pool: 'host',
      free: 60 * GIB,
      stale: true,
    });
  });

  describe('an integrated GPU next to one with dedicated memory', () => {
    const igpu = card('igpu', {
      vendor: 'Intel',
      pool: 'host',
      memory_total_bytes: null,
      memory_used_bytes: null,
    });
    const arc = card('arc', { vendor: 'Intel' });
    const pools = [pool('host', { kind: 'host' }), poolOf(arc)];
    const both = (device: string) => headroom([igpu, arc], device, GIB, pools);

    it.each(['auto', 'vulkan'])('is excluded with device %s, as in llama.cpp', (device) => {
      expect(both(device)).toEqual({ pool: 'arc', free: 6 * GIB });
    });

    it('is counted after the dedicated GPU', () => {
      expect(both('vulkan:0')).toEqual({ pool: 'arc', free: 6 * GIB });
      expect(both('vulkan:1')).toEqual(host);
    });

    it('is used when models may not use the other GPU', () => {
      const excluded = card('arc', { vendor: 'Intel', unused_reason: 'Vulkan does not see it' });
      const shared = pool('host', { kind: 'unified', available_bytes: 60 * GIB, total_bytes: 96 * GIB });
      expect(headroom([igpu, excluded], 'auto', GIB, [shared, poolOf(excluded)])).toMatchObject({
        pool: 'host',
        free: 60 * GIB,
      });
    });
  });

  it("excludes the driver's own reservation", () => {
    const reserved = pool('a', { total_bytes: 7 * GIB, available_bytes: 5 * GIB });
    expect(headroom([card('a')], 'auto', GIB, [reserved])).toEqual({ pool: 'a', free: 5 * GIB });
    expect(headroom([card('a')], 'auto', 7.5 * GIB, [reserved])).toEqual(host);
  });

  it('derives free memory from a driver that reports only used memory', () => {
    expect(headroom([card('a')], 'auto', GIB, [pool('a', { available_bytes: null })])).toEqual({
      pool: 'a',
      free: 6 * GIB,
    });
  });

  it('does not invent figures that a GPU does not report', () => {
    expect(headroom([card('dark', { pool: null, memory_total_bytes: null })], 'vulkan:0', GIB, [])).toEqual(
      host,
    );
  });

  it('a GPU that stops reporting free memory keeps its loads, after those that report it', () => {
    const unreported = card('silent', { memory_used_bytes: null });
    const pools = [pool('silent', { available_bytes: null }), pool('b')];
    const all = { pool: 'silent', free: 8 * GIB, unknown: true };
    expect(headroom([unreported], 'auto', GIB, pools)).toEqual(all);
    expect(headroom([unreported], 'cuda:0', GIB, pools)).toEqual(all);
    expect(headroom([unreported, card('b')], 'auto', GIB, pools)).toMatchObject({ pool: 'b', free: 6 * GIB });
  });
});

describe('figures that are being refreshed', () => {
  const read = (devices: DeviceRecord[], device: string, needed = GIB, pools?: MemoryPoolRecord[]) =>
    headroom(devices, device, needed, pools, true).refreshing ?? false;

  it('are awaited when a GPU is counted', () => {
    expect(read([card('a')], 'auto')).toBe(true);
    expect(read([card('a')], 'cuda:0')).toBe(true);
    const shared = pool('host', { kind: 'unified' });
    expect(read([card('apu', { pool: 'host' })], 'auto', GIB, [shared])).toBe(true);
    const unprobed = { view: () => null, isRefreshing: () => true, memoryAvailable: () => 32 * GIB };
    expect([memoryHeadroom(unprobed, 'auto', 1), memoryHeadroom(unprobed, 'cpu', 1)]).toEqual([
      { ...host, refreshing: true },
      host,
    ]);
  });

  it("are not awaited for the machine's memory, which is read at once", () => {
    expect(read([card('a')], 'cpu')).toBe(false);
    expect(read([card('a')], 'auto', 9 * GIB)).toBe(false);
    expect(read([], 'auto')).toBe(false);
    expect(read([card('igpu', { pool: 'host' })], 'auto', GIB, [pool('host', { kind: 'host' })])).toBe(false);
  });
});

describe('maxModelBytes', () => {
  const maxBytes = (devices: DeviceRecord[] | null, device: string, limit = 0, host = 16) => {
    const pools = (devices ?? []).map(poolOf);
    const view = devices && ({ devices, pools } as unknown as HardwareView);
    return maxModelBytes({ last: () => view, memoryTotal: () => host * GIB }, device, limit);
  };
  const big = card('big', { memory_total_bytes: 24 * GIB });

  it('is the larger of machine and GPU with auto, otherwise that of the device', () => {
    expect(maxBytes([big, card('small')], 'auto')).toBe(24 * GIB - KEEP_FREE_BYTES);
    expect(maxBytes([big], 'auto', 0, 64)).toBe(64 * GIB - KEEP_FREE_BYTES);
    expect(maxBytes([big, card('small')], 'cuda:1')).toBe(8 * GIB - KEEP_FREE_BYTES);
    expect(maxBytes([big], 'cpu')).toBe(16 * GIB - KEEP_FREE_BYTES);
    expect(maxBytes([], 'cuda:0')).toBe(16 * GIB - KEEP_FREE_BYTES);
    expect(maxBytes(null, 'auto')).toBe(16 * GIB - KEEP_FREE_BYTES);
  });

  it('is at most the memory limit, and excludes unusable GPUs', () => {
    expect(maxBytes([big], 'auto', GIB)).toBe(GIB);
    expect(maxBytes([{ ...big, unused_reason: 'no backend' }], 'auto')).toBe(16 * GIB - KEEP_FREE_BYTES);
  });
});

describe('the GPU that auto selects', () => {
  const largeCard = (over: Partial<DeviceRecord> = {}) => card('roomy', { memory_used_bytes: 0, ...over });
  const chosen = (cards: DeviceRecord[], device = 'auto', needed = GIB) =>
    headroom(cards, device, needed).card;

  it('is the one with the most free memory, as each backend numbers it', () => {
    const amd = { vendor: 'AMD' };
    expect(chosen([card('small'), largeCard()])).toEqual(['cuda:1', 'vulkan:1']);
    expect(chosen([largeCard(amd), card('small', amd)])).toEqual(['rocm:0', 'vulkan:0']);
    const intel = { vendor: 'Intel' };
    expect(chosen([card('small', intel), largeCard(intel)])).toEqual(['vulkan:1']);
  });

  it('is returned with the alternatives, most free memory first', () => {
    const alternatives = (cards: DeviceRecord[], device = 'auto', needed = GIB) =>
      headroom(cards, device, needed).alternatives;
    const cards = [card('small'), largeCard(), card('full', { memory_used_bytes: 8 * GIB })];
    expect(alternatives(cards)).toMatchObject([
      { pool: 'small', free: 6 * GIB, card: ['cuda:0', 'vulkan:0'] },
      { pool: 'full', free: 0, card: ['cuda:2', 'vulkan:2'] },
    ]);
    expect(alternatives([largeCard()])).toBeUndefined();
    expect(alternatives(cards, 'cuda')).toBeUndefined();
    expect(alternatives([card('small', { vendor: 'AMD' }), largeCard()])).toBeUndefined();
  });

  it('is numbered among the GPUs of its vendor, without integrated ones', () => {
    const apu = card('apu', { vendor: 'AMD', pool: 'host' });
    const shared = pool('host', { kind: 'unified', available_bytes: GIB });
    const cards = [apu, card('small'), largeCard()];
    const pools = [shared, ...cards.slice(1).map(poolOf)];
    expect(headroom(cards, 'auto', GIB, pools).card).toEqual(['cuda:1', 'vulkan:1']);
  });

  it('is not returned when there is no choice, or backends may number differently', () => {
    expect(chosen([largeCard()])).toBeUndefined();
    expect(chosen([card('small'), largeCard()], 'cuda')).toBeUndefined();
    expect(chosen([card('small'), largeCard()], 'auto', 9 * GIB)).toBeUndefined();
    expect(chosen([card('small', { vendor: 'AMD' }), largeCard()])).toBeUndefined();
    expect(chosen([card('small'), largeCard({ vendor: null })])).toBeUndefined();
  });
});

describe('a load with device auto on a recorded machine', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0).reverse()) end();
  });
  const launched = async (name: (typeof MACHINES)[number], sizeBytes: number) => {
    const hardware = await probedMachine(name, ends);
    const model = { ...MODEL, sizeBytes, kvBytesPerToken: 0, embedding: 0 };
    const outcome = admissionOn(hardware, { model: () => model }).forecast(slotConfig(), model, null).plan;
    return { env: outcome.launch.env, pool: outcome.headroom.pool, view: hardware.view() };
  };

  it('runs on the GPU that it was counted against', async () => {
    const { env, pool: chosen, view } = await launched('nvidia-dual', GIB);
    const cards = (view?.devices ?? []).filter(({ kind }) => kind === 'gpu');
    const free = cards.map((one) => (one.memory_total_bytes ?? 0) - (one.memory_used_bytes ?? 0));
    const index = free.indexOf(Math.max(...free));
    expect([cards.length, chosen]).toEqual([2, cards[index]?.id]);
    expect(env).toEqual({
      CUDA_VISIBLE_DEVICES: String(index),
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
      GGML_VK_VISIBLE_DEVICES: String(index),
    });
  });

  it('may use both GPUs when neither can hold it', async () => {
    expect((await launched('nvidia-dual', 30 * GIB)).env).toEqual({});
  });

  it.each(MACHINES.filter((name) => name !== 'nvidia-dual'))('starts unchanged on %s', async (name) => {
    expect((await launched(name, GIB)).env).toEqual({});
  });
});
