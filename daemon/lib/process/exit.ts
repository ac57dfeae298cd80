import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that work on files may still take. */
const LAST_FILES_MS = 1_000;
const STEP_MS = 20;

const filesUnderWay = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/**
 * Ends the process. Its exit would wait for threads that wait for a disk, for ever where that does not answer (a network share
 * whose server is away): then it ends by a signal. A service manager takes SIGTERM for a clean end and SIGKILL for a failure,
 * after which it starts the gateway again.
 */
export async function leave(code: number): Promise<never> {
  const limit = performance.now() + LAST_FILES_MS;
  while (filesUnderWay() && performance.now() < limit) await pause(STEP_MS);
  if (filesUnderWay()) {
    const signal = code === 0 ? 'SIGTERM' : 'SIGKILL';
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(code);
}
