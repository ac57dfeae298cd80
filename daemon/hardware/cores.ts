import { availableParallelism } from 'node:os';
import { readCgroup } from './cgroup.ts';
import { kernelNames, kernelText } from './kernel-files.ts';

const CPUS = 'sys/devices/system/cpu';
const MAX_CPUS = 4096;

/** Cores from the lists of logical processors that share one; null when the kernel does not tell. */
export function countCores(siblingLists: readonly (string | null)[]): number | null {
  const cores = new Set(siblingLists.filter((list) => list !== null).map((list) => list.trim()));
  return cores.size === 0 ? null : cores.size;
}

/**
 * Physical cores that this process may use: never more than its CPU affinity and its control group allow, at least 1.
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
