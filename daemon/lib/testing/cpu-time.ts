/**
 * Returns the CPU milliseconds that `work` takes on this thread. Tests of an algorithm's growth use it instead of a clock: other
 * processes on the machine do not count.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
