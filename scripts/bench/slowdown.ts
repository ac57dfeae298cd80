import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** The share by which a slowed gateway uses more CPU: the gate has to notice it. */
export const SLOWDOWN = 0.6;

const threadCpuUs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

/** The clock of a thread may be coarse: less than this is not burned but owed. */
const MIN_BURN_US = 5_000;

/** Returns a function that uses `share` of the CPU time that this thread has used since the last call, in addition. */
export function cpuBurner(share: number): () => void {
  let settledUs = threadCpuUs();
  let owedUs = 0;
  return () => {
    const startUs = threadCpuUs();
    owedUs += (startUs - settledUs) * share;
    settledUs = startUs;
    if (owedUs < MIN_BURN_US) return;
    while (settledUs < startUs + owedUs) settledUs = threadCpuUs();
    owedUs -= settledUs - startUs;
  };
}

/** Slows the handling of every further HTTP request of this process by `share`. Returns a function that ends it. */
export function slowDown(share: number): () => void {
  const burn = cpuBurner(share);
  subscribe('http.server.request.start', burn);
  return () => void unsubscribe('http.server.request.start', burn);
}
