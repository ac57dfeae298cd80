import type { Access, DeviceInfo } from './device-facts.ts';
import type { NodeState } from './device-nodes.ts';

/** Drivers that engines can compute with. Any other driver (nouveau, vfio-pci) counts as none. */
const USABLE_DRIVERS: Readonly<Record<DeviceInfo['vendor'], readonly string[]>> = {
  nvidia: ['nvidia'],
  amd: ['amdgpu', 'amdxdna'],
  intel: ['xe', 'i915', 'intel_vpu'],
  rockchip: ['rknpu', 'rocket'],
};

/** The control node of the proprietary driver, which represents all its nodes. */
const NVIDIA_NODE = '/dev/nvidiactl';

/** Returns the device nodes that must be readable and writable to use the device. */
export function nodesToCheck(device: DeviceInfo): readonly string[] {
  return device.vendor === 'nvidia' ? [NVIDIA_NODE] : device.nodes;
}

export function hasUsableDriver(device: DeviceInfo): boolean {
  return device.driver !== null && USABLE_DRIVERS[device.vendor].includes(device.driver);
}

/**
 * Decides whether this process can use the device. Distinguishes a missing driver, missing permission and
 * unknown. A node that the kernel lists but /dev lacks counts as missing permission: a container or sandbox
 * hides it.
 */
export function decideAccess(device: DeviceInfo, nodes: readonly NodeState[]): Access {
  if (device.vendor === 'rockchip') return 'unknown';
  if (!hasUsableDriver(device)) return 'no_driver';
  if (device.toolAnswered && device.vendor === 'nvidia') return 'ok';
  if (device.toolProblem !== null) return 'no_driver';
  if (nodes.length === 0) return 'unknown';
  return nodes.every((state) => state === 'ok') ? 'ok' : 'no_permission';
}
