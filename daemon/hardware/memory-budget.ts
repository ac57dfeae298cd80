import type { MemoryPoolRecord } from '../contract/hardware.ts';
import type { DeviceInfo } from './device-facts.ts';
import type { HostMemory } from './host-memory.ts';

/** The pool of everything that uses the host's memory. */
export const HOST_POOL = 'host';

type Size = Pick<
  MemoryPoolRecord,
  'kind' | 'total_bytes' | 'available_bytes' | 'carveout_bytes' | 'limited_by'
>;

/** True for a GPU that runs models on the host's memory. */
export function isUnifiedGpu(device: DeviceInfo): boolean {
  return device.kind === 'gpu' && device.integrated === true && !device.small && device.vendor !== 'intel';
}

/** Returns the pool of a device, or null when its memory is unknown. */
export function poolOf(device: DeviceInfo): string | null {
  if (device.integrated === true) return HOST_POOL;
  return device.memoryTotal === null ? null : device.id;
}

const least = (...values: (number | null)[]) => Math.min(...values.filter((value) => value !== null));

/**
 * Returns one pool for a machine with unified memory (docs/spec/contract.md#unified-memory): the GPU's
 * carve-out, which the host does not see, plus the smallest of what host, control group and GTT allow.
 */
function unifiedSize(host: HostMemory, gpu: DeviceInfo): Size {
  const carveout = gpu.memoryTotal ?? 0;
  const gttLeft = gpu.gttTotal === null ? null : Math.max(0, gpu.gttTotal - (gpu.gttUsed ?? 0));
  const byGtt = gpu.gttTotal !== null && gpu.gttTotal < host.totalBytes;
  return {
    kind: 'unified',
    total_bytes: carveout + least(host.totalBytes, gpu.gttTotal),
    available_bytes: (gpu.memoryFree ?? 0) + least(host.availableBytes, gttLeft),
    carveout_bytes: carveout,
    limited_by: byGtt ? 'gtt' : host.limitedBy,
  };
}

function hostSize(host: HostMemory): Size {
  return {
    kind: 'host',
    total_bytes: host.totalBytes,
    available_bytes: host.availableBytes,
    carveout_bytes: 0,
    limited_by: host.limitedBy,
  };
}

/**
 * Returns a card's own memory without the part that its driver reserves. Mappable host memory is never added.
 */
function deviceSize(device: DeviceInfo): Size {
  const { memoryTotal, memoryUsed, memoryFree } = device;
  const usable = memoryUsed === null || memoryFree === null ? memoryTotal : memoryUsed + memoryFree;
  return {
    kind: 'device',
    total_bytes: usable ?? 0,
    available_bytes: memoryFree,
    carveout_bytes: 0,
    limited_by: 'device',
  };
}

/** Returns every memory pool of the machine, the host's first. Devices on one pool share it. */
export function memoryPools(host: HostMemory, devices: readonly DeviceInfo[]): MemoryPoolRecord[] {
  const unified = devices.find(isUnifiedGpu);
  const members = (pool: string) =>
    devices.filter((device) => poolOf(device) === pool).map((device) => device.id);
  const own = devices.filter((device) => poolOf(device) === device.id);
  return [
    {
      id: HOST_POOL,
      ...(unified === undefined ? hostSize(host) : unifiedSize(host, unified)),
      devices: ['cpu', ...members(HOST_POOL)],
    },
    ...own.map((device) => ({ id: device.id, ...deviceSize(device), devices: members(device.id) })),
  ];
}
