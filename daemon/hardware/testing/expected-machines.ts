import type { DeviceRecord, MemoryPoolRecord } from '../../contract/hardware.ts';
import type { MachineName } from './fake-machine.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const KIB = 1024;
/** The expected probe result of each captured machine. `unused` is the start of the reason. */
export type Accelerator = Omit<DeviceRecord, 'unused_reason'> & { unused: string | null };

const device = (values: Partial<Accelerator> & Pick<Accelerator, 'id' | 'vendor' | 'name'>): Accelerator => ({
  kind: 'gpu',
  driver: null,
  access: 'ok',
  memory_total_bytes: null,
  memory_used_bytes: null,
  pool: null,
  busy_percent: null,
  power_w: null,
  temperature_c: null,
  unused: null,
  ...values,
});
const hostPool = (totalKib: number, availableKib: number, ...devices: string[]): MemoryPoolRecord => ({
  id: 'host',
  kind: 'host',
  total_bytes: totalKib * KIB,
  available_bytes: availableKib * KIB,
  carveout_bytes: 0,
  limited_by: 'host',
  devices: ['cpu', ...devices],
});
const cardPool = (id: string, total: number, available: number | null): MemoryPoolRecord => ({
  id,
  kind: 'device',
  total_bytes: total,
  available_bytes: available,
  carveout_bytes: 0,
  limited_by: 'device',
  devices: [id],
});

export interface Expected {
  devices: Accelerator[];
  pools: MemoryPoolRecord[];
  problems: string[];
}

export const EXPECTED: Record<MachineName, Expected> = {
  'no-gpu': { devices: [], pools: [hostPool(24684096, 23099132)], problems: [] },
  'nvidia-single': {
    devices: [
      device({
        id: '0000:84:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GeForce RTX 4090',
        driver: 'nvidia',
        memory_total_bytes: 24564 * MIB,
        memory_used_bytes: 2 * MIB,
        pool: '0000:84:00.0',
        busy_percent: 0,
        power_w: 26.84,
        temperature_c: 40,
      }),
    ],
    pools: [hostPool(65746932, 58123456), cardPool('0000:84:00.0', (2 + 24214) * MIB, 24214 * MIB)],
    problems: [],
  },
  'nvidia-dual': {
    devices: [
      device({
        id: '0000:01:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GeForce RTX 3090',
        driver: 'nvidia',
        memory_total_bytes: 24576 * MIB,
        memory_used_bytes: 18734 * MIB,
        pool: '0000:01:00.0',
        busy_percent: 87,
        power_w: 342.15,
        temperature_c: 71,
      }),
      device({
        id: '0000:21:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GeForce RTX 3090',
        driver: 'nvidia',
        memory_total_bytes: 24576 * MIB,
        memory_used_bytes: 14 * MIB,
        pool: '0000:21:00.0',
        busy_percent: 0,
        power_w: null,
        temperature_c: 33,
      }),
    ],
    pools: [
      hostPool(131833004, 96012344),
      cardPool('0000:01:00.0', (18734 + 5474) * MIB, 5474 * MIB),
      cardPool('0000:21:00.0', (14 + 24194) * MIB, 24194 * MIB),
    ],
    problems: [],
  },
  'nvidia-unified-gb10': {
    devices: [
      device({
        id: '000f:01:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GB10',
        driver: 'nvidia',
        memory_total_bytes: 127600748 * KIB,
        memory_used_bytes: 19135 * MIB,
        pool: 'host',
        busy_percent: 0,
        power_w: 11.17,
        temperature_c: 35,
      }),
    ],
    pools: [{ ...hostPool(127600748, 118566368, '000f:01:00.0'), kind: 'unified' }],
    problems: [],
  },
  'nvidia-driver-broken': {
    devices: [
      device({
        id: '0000:01:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GeForce RTX 4090',
        driver: 'nouveau',
        access: 'no_driver',
        unused: "Driver nouveau can't",
      }),
    ],
    pools: [hostPool(65746932, 60123456)],
    problems: ['nvidia-smi'],
  },
  'amd-dgpu': {
    devices: [
      device({
        id: '0000:0b:00.0',
        vendor: 'amd',
        name: 'AMD Radeon RX 7900 XT',
        driver: 'amdgpu',
        memory_total_bytes: 21458059264,
        memory_used_bytes: 27856896,
        pool: '0000:0b:00.0',
        busy_percent: 0,
        power_w: 13,
        temperature_c: 37,
      }),
    ],
    pools: [hostPool(65757912, 52123456), cardPool('0000:0b:00.0', 21458059264, 21458059264 - 27856896)],
    problems: [],
  },
  'amd-dgpu-old-amd-smi': {
    devices: [
      device({
        id: '0000:0b:00.0',
        vendor: 'amd',
        name: 'AMD Radeon RX 6600/6600 XT/6600M',
        driver: 'amdgpu',
        memory_total_bytes: 8573157376,
        memory_used_bytes: 211812352,
        pool: '0000:0b:00.0',
        busy_percent: 0,
        power_w: 4,
        temperature_c: 36,
      }),
    ],
    pools: [hostPool(131803004, 120012344), cardPool('0000:0b:00.0', 8573157376, 8573157376 - 211812352)],
    problems: [],
  },
  'amd-strix-halo-npu': {
    devices: [
      device({
        id: '0000:c3:00.0',
        vendor: 'amd',
        name: 'AMD Radeon 8060S Graphics',
        driver: 'amdgpu',
        memory_total_bytes: 100 * GIB,
        memory_used_bytes: 412090368 + 18253611008,
        pool: 'host',
        busy_percent: 3,
        power_w: 12.026,
        temperature_c: 41,
      }),
      device({
        id: '0000:c4:00.1',
        kind: 'npu',
        vendor: 'amd',
        name: 'AMD XDNA 2 NPU',
        driver: 'amdxdna',
        pool: 'host',
      }),
    ],
    pools: [
      {
        id: 'host',
        kind: 'unified',
        total_bytes: 100 * GIB,
        available_bytes: 4 * GIB - 412090368 + (96 * GIB - 18253611008),
        carveout_bytes: 4 * GIB,
        limited_by: 'gtt',
        devices: ['cpu', '0000:c3:00.0', '0000:c4:00.1'],
      },
    ],
    problems: [],
  },
  'amd-strix-halo-carveout-no-npu': {
    devices: [
      device({
        id: '0000:c3:00.0',
        vendor: 'amd',
        name: 'AMD Radeon 8060S Graphics',
        driver: 'amdgpu',
        memory_total_bytes: 96 * GIB + 16363954176,
        memory_used_bytes: 21563965440 + 734003200,
        pool: 'host',
        busy_percent: 3,
        power_w: 12.026,
        temperature_c: 41,
      }),
      device({
        id: '0000:c4:00.1',
        kind: 'npu',
        vendor: 'amd',
        name: 'AMD XDNA 2 NPU',
        access: 'no_driver',
        pool: 'host',
        unused: 'No driver is',
      }),
    ],
    pools: [
      {
        id: 'host',
        kind: 'unified',
        total_bytes: 96 * GIB + 16363954176,
        available_bytes: 96 * GIB - 21563965440 + (16363954176 - 734003200),
        carveout_bytes: 96 * GIB,
        limited_by: 'gtt',
        devices: ['cpu', '0000:c3:00.0', '0000:c4:00.1'],
      },
    ],
    problems: [],
  },
  'intel-arc-npu': {
    devices: [
      device({
        id: '0000:00:02.0',
        vendor: 'intel',
        name: 'Intel graphics (Arrow Lake)',
        driver: 'xe',
        pool: 'host',
      }),
      device({
        id: '0000:00:0b.0',
        kind: 'npu',
        vendor: 'intel',
        name: 'Intel NPU (Arrow Lake)',
        driver: 'intel_vpu',
        memory_used_bytes: 67108864,
        pool: 'host',
        unused: 'No supported engine',
      }),
      device({
        id: '0000:03:00.0',
        vendor: 'intel',
        name: 'Intel Arc Pro B60',
        driver: 'xe',
        memory_total_bytes: 25669140480,
        memory_used_bytes: 25669140480 - 25447600128,
        pool: '0000:03:00.0',
        temperature_c: 42,
      }),
    ],
    pools: [
      hostPool(65478340, 59123456, '0000:00:02.0', '0000:00:0b.0'),
      cardPool('0000:03:00.0', 25669140480, 25447600128),
    ],
    problems: [],
  },
  'mixed-amd-igpu-nvidia-dgpu': {
    devices: [
      device({
        id: '0000:01:00.0',
        vendor: 'nvidia',
        name: 'NVIDIA GeForce RTX 4080',
        driver: 'nvidia',
        memory_total_bytes: 16376 * MIB,
        memory_used_bytes: 311 * MIB,
        pool: '0000:01:00.0',
        busy_percent: 2,
        power_w: 9.87,
        temperature_c: 38,
      }),
      device({
        id: '0000:0e:00.0',
        vendor: 'amd',
        name: 'AMD Radeon graphics (Raphael)',
        driver: 'amdgpu',
        memory_total_bytes: 512 * MIB,
        memory_used_bytes: 92274688,
        pool: 'host',
        busy_percent: 1,
        unused: 'Graphics of two',
      }),
    ],
    pools: [
      hostPool(65757912, 52123456, '0000:0e:00.0'),
      cardPool('0000:01:00.0', (311 + 15741) * MIB, 15741 * MIB),
    ],
    problems: [],
  },
  'arm-rk3588-npu': {
    devices: [
      device({
        id: 'fdab0000.npu',
        kind: 'npu',
        vendor: 'rockchip',
        name: 'Rockchip NPU',
        driver: 'rknpu',
        access: 'unknown',
        pool: 'host',
        busy_percent: 12,
        unused: 'No supported engine',
      }),
    ],
    pools: [hostPool(16231484, 14123456, 'fdab0000.npu')],
    problems: [],
  },
};
