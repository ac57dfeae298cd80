import { type DeviceInfo, type DevicePatch, newDevice, patchDevice } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';

/** Reads the values of the amdxdna and intel_vpu drivers. */
export async function readNpu(tree: Tree, id: string): Promise<DevicePatch> {
  const folder = `sys/bus/pci/devices/${id}`;
  const [memoryUsed, busyCounterUs] = await Promise.all([
    tree.number(`${folder}/npu_memory_utilization`),
    tree.number(`${folder}/npu_busy_time_us`),
  ]);
  return { memoryUsed, busyCounterUs };
}

/** Returns the mean load of all cores from `NPU load:  Core0: 37%, Core1:  0%,`. Null without such text. */
export function parseRockchipLoad(text: string | null): number | null {
  const cores = [...(text ?? '').matchAll(/Core\d+:\s*(\d+)%/g)].map((match) => Number(match[1]));
  if (cores.length === 0) return null;
  return Math.round(cores.reduce((sum, load) => sum + load, 0) / cores.length);
}

/**
 * Finds Rockchip NPUs, which are platform devices without PCI address and accel node. Only root can read
 * their load.
 */
export async function scanPlatformNpus(tree: Tree): Promise<DeviceInfo[]> {
  const names = (await tree.names('sys/class/devfreq')).filter((name) => /^[0-9a-f]+\.npu$/.test(name));
  const [load, version] = await Promise.all([
    tree.text('sys/kernel/debug/rknpu/load'),
    tree.text('sys/kernel/debug/rknpu/version'),
  ]);
  return names.slice(0, 8).map((id) => {
    const device = newDevice({ id, kind: 'npu', vendor: 'rockchip', vendorId: null, deviceId: null });
    device.foundBy = 'rknpu';
    const driver = version === null ? null : 'rknpu';
    const busyPercent = parseRockchipLoad(load);
    patchDevice(device, { name: 'Rockchip NPU', integrated: true, driver, busyPercent }, 'rknpu');
    return device;
  });
}
