/**
 * Starts to count the CPU time of this thread. The returned function gives the milliseconds since then. Tests of an algorithm's
 * growth use it instead of a clock: other processes on the machine do not count.
 */
export function cpuTimer(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
