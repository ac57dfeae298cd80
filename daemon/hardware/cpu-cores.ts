import { availableParallelism } from 'node:os';
import { readCgroup } from './cgroup.ts';
import { kernelNames, kernelText } from './kernel-files.ts';

const CPUS = 'sys/devices/system/cpu';
const MAX_CPUS = 4096;

/**
 * Counts cores from the lists of logical processors that share a core. Null when the kernel does not report
 * them.
 */
export function countCores(siblingLists: readonly (string | null)[]): number | null {
  const cores = new Set(siblingLists.filter((list) => list !== null).map((list) => list.trim()));
  return cores.size === 0 ? null : cores.size;
}

/**
 * Returns the physical cores that this process may use, limited by its CPU affinity and control group; at
 * least 1.
 */
export function physicalCores(root: string): number {
  const names = kernelNames(root, CPUS)
    .filter((name) => /^cpu\d+$/.test(name))
    .slice(0, MAX_CPUS);
  const lists = names.map(
    (name) =>
      kernelText(root, `${CPUS}/${name}/topology/core_cpus_list`) ??
      kernelText(root, `${CPUS}/${name}/topology/thread_siblings_list`),
  );
  const allowed = availableParallelism();
  const quota = Math.floor(readCgroup(root).cpus ?? allowed);
  return Math.max(1, Math.min(countCores(lists) ?? allowed, allowed, quota));
}
