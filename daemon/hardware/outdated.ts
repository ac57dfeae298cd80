import type { DeviceFacts } from './facts.ts';
import { isTimeout } from './guarded.ts';
import { pciAddress } from './pci-scan.ts';
import type { ProbeResult } from './probe.ts';
import type { Tree } from './tree.ts';

/** NVIDIA's tool waits for a driver that wakes its cards first, and then answers in time. */
function probedTooEarly({ devices, problems }: ProbeResult): boolean {
  const silent = devices.some(({ facts }) => facts.vendor === 'nvidia' && !facts.toolAnswered);
  return silent && problems.some((problem) => problem.probe === 'nvidia-smi' && isTimeout(problem));
}

/** A card in a box of its own may be unplugged. */
async function hasMissingDevice(tree: Tree, devices: readonly DeviceFacts[]): Promise<boolean> {
  const there = new Set((await tree.names('sys/bus/pci/devices')).map(pciAddress));
  return devices.some(({ id, foundBy }) => foundBy === 'pci' && !there.has(id));
}

/** Whether a whole probe would find another machine than the last one, as far as that is seen without one. */
export const isOutdated = async (tree: Tree, last: ProbeResult): Promise<boolean> =>
  probedTooEarly(last) ||
  hasMissingDevice(
    tree,
    last.devices.map(({ facts }) => facts),
  );
