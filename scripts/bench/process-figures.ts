import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
}

/** A process and its descendants. */
function tree(root: number): number[] {
  const parents = new Map(numbersIn('/proc').map((pid) => [pid, parentOf(pid)]));
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

/** CPU time of a process and its descendants in nanoseconds, as the scheduler counts it. */
export function cpuNs(pid: number): number {
  const threads = tree(pid).flatMap((each) =>
    numbersIn(`/proc/${each}/task`).map((id) => `${each}/task/${id}`),
  );
  return threads.reduce((sum, thread) => sum + Number(read(`/proc/${thread}/schedstat`).split(' ')[0]), 0);
}

/** CPU time of the main thread of a process in nanoseconds. */
export const mainThreadNs = (pid: number): number =>
  Number(read(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[0]);

/** Resident memory of a process and its children in MB, now (`VmRSS`) or at its peak (`VmHWM`). */
export function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`^${field}:\\s+(\\d+)`, 'm');
  return tree(pid).reduce(
    (sum, each) => sum + Number(line.exec(read(`/proc/${each}/status`))?.[1] ?? 0) / 1024,
    0,
  );
}

/** Resets the peak memory. Without the permission the peak stays that of the whole lifetime. */
export function resetPeak(pid: number): void {
  for (const each of tree(pid)) {
    try {
      writeFileSync(`/proc/${each}/clear_refs`, '5');
    } catch {
      // No permission to reset it.
    }
  }
}

/** Measures the CPU time and peak memory of a target while `work` runs. */
export async function spent<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; cpuUs: number; peakMb: number }> {
  resetPeak(pid);
  const before = cpuNs(pid);
  const result = await work();
  return { result, cpuUs: (cpuNs(pid) - before) / 1000, peakMb: memoryMb(pid, 'VmHWM') };
}
