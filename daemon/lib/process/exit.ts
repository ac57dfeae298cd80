import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that work on files may still take. */
const FILE_GRACE_MS = 1_000;
const POLL_MS = 20;

const hasPendingFileWork = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/**
 * Ends the process. Its exit would wait for threads that wait for a disk, for ever where that does not answer (a network share
 * whose server is away): then it ends by a signal. A service manager takes SIGTERM for a clean end and SIGKILL for a failure,
 * after which it starts the gateway again.
 */
export async function forceExit(code: number): Promise<never> {
  const limit = performance.now() + FILE_GRACE_MS;
  while (hasPendingFileWork() && performance.now() < limit) await pause(POLL_MS);
  if (hasPendingFileWork()) {
    const signal = code === 0 ? 'SIGTERM' : 'SIGKILL';
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(code);
}
