import type { NodeState } from './device-nodes.ts';
import type { Access, DeviceFacts } from './facts.ts';

/** Drivers through which engines can compute; any other one (nouveau, vfio-pci) is as good as none. */
const USABLE_DRIVERS: Readonly<Record<DeviceFacts['vendor'], readonly string[]>> = {
  nvidia: ['nvidia'],
  amd: ['amdgpu', 'amdxdna'],
  intel: ['xe', 'i915', 'intel_vpu'],
  rockchip: ['rknpu', 'rocket'],
};

/** The proprietary driver's control node stands for all its nodes. */
const NVIDIA_NODE = '/dev/nvidiactl';

/** Device nodes that must be readable and writable to use the device. */
export function nodesToCheck(device: DeviceFacts): readonly string[] {
  return device.vendor === 'nvidia' ? [NVIDIA_NODE] : device.nodes;
}

export function hasUsableDriver(device: DeviceFacts): boolean {
  return device.driver !== null && USABLE_DRIVERS[device.vendor].includes(device.driver);
}

/**
 * Whether this process can use the device: absent driver, present but not permitted and unknown are told apart. A node
 * that the kernel lists but /dev lacks counts as not permitted: a container or sandbox keeps it away.
 */
export function decideAccess(device: DeviceFacts, nodes: readonly NodeState[]): Access {
  if (device.vendor === 'rockchip') return 'unknown';
  if (!hasUsableDriver(device)) return 'no_driver';
  if (device.toolAnswered && device.vendor === 'nvidia') return 'ok';
  if (device.toolProblem !== null) return 'no_driver';
  if (nodes.length === 0) return 'unknown';
  return nodes.every((state) => state === 'ok') ? 'ok' : 'no_permission';
}
