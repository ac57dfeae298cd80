import { describe, expect, it } from 'vitest';
import type { DeviceRecord, HardwareView, MemoryPoolRecord } from './contract/hardware.ts';
import { roomOn } from './memory-room.ts';

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
const room = (
  devices: DeviceRecord[],
  device: string,
  needed = GIB,
  pools = devices.map(({ id }) => pool(id)),
) => {
  const view = { devices, pools } as unknown as HardwareView;
  return roomOn({ view: () => view, memoryAvailable: () => 32 * GIB }, device, needed);
};
const host = { pool: 'host', free: 32 * GIB };

describe('roomOn', () => {
  it('the CPU has the memory of the machine, and so has a machine nobody has looked at', () => {
    expect(room([card('a')], 'cpu')).toEqual(host);
    expect(roomOn({ view: () => null, memoryAvailable: () => 32 * GIB }, 'auto', 1)).toEqual(host);
  });

  it('auto takes the roomiest card that models run on', () => {
    const cards = [
      card('small'),
      card('roomy', { memory_used_bytes: 0 }),
      card('locked', { access: 'no_permission', memory_total_bytes: 99 * GIB }),
      card('unseen', { unused_reason: 'no backend', memory_total_bytes: 99 * GIB }),
    ];
    expect(room(cards, 'auto')).toEqual({ pool: 'roomy', free: 8 * GIB });
  });

  it('auto counts a model that no card can hold against the machine', () => {
    expect(room([card('a')], 'auto', 9 * GIB)).toEqual(host);
    expect(room([card('a')], 'cuda:0', 9 * GIB)).toEqual({ pool: 'a', free: 6 * GIB });
  });

  it('a number picks one card of its maker', () => {
    const cards = [card('amd', { vendor: 'AMD' }), card('n0'), card('n1', { memory_used_bytes: 5 * GIB })];
    expect(room(cards, 'cuda:1')).toEqual({ pool: 'n1', free: 3 * GIB });
    expect(room(cards, 'rocm:0')).toMatchObject({ pool: 'amd' });
    expect(room(cards, 'vulkan:2')).toMatchObject({ pool: 'n1' });
    expect(room(cards, 'cuda:7')).toEqual(host);
  });

  it('a card on the memory of the machine has what the shared pool has', () => {
    const shared = pool('host', { kind: 'unified', available_bytes: 60 * GIB, total_bytes: 96 * GIB });
    expect(room([card('apu', { pool: 'host' })], 'auto', GIB, [shared])).toEqual({
      pool: 'host',
      free: 60 * GIB,
    });
  });

  it('what a card does not tell is not invented', () => {
    expect(room([card('dark', { pool: null, memory_total_bytes: null })], 'vulkan:0', GIB, [])).toEqual(host);
  });
});
