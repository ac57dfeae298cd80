import type { DeviceInfo } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';
import { pciAddress } from './pci-scan.ts';
import type { ProbeResult } from './probe.ts';
import { isTimeout } from './run-guarded.ts';

/** NVIDIA's tool first waits for a driver that wakes its GPUs, and only then answers in time. */
function probedTooEarly({ devices, problems }: ProbeResult): boolean {
  const silent = devices.some(({ info }) => info.vendor === 'nvidia' && !info.toolAnswered);
  return silent && problems.some((problem) => problem.probe === 'nvidia-smi' && isTimeout(problem));
}

/** An external GPU may be unplugged. */
async function hasMissingDevice(tree: Tree, devices: readonly DeviceInfo[]): Promise<boolean> {
  const there = new Set((await tree.names('sys/bus/pci/devices')).map(pciAddress));
  return devices.some(({ id, foundBy }) => foundBy === 'pci' && !there.has(id));
}

/**
 * Returns whether a full probe would find a different machine than the last one, as far as this is visible
 * without one.
 */
export const isOutdated = async (tree: Tree, last: ProbeResult): Promise<boolean> =>
  probedTooEarly(last) ||
  hasMissingDevice(
    tree,
    last.devices.map(({ info }) => info),
  );
