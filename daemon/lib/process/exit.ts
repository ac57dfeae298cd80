import { setTimeout as pause } from 'node:timers/promises';

/** How long pending file operations may still take, in milliseconds. */
const FILE_GRACE_MS = 1_000;
const POLL_MS = 20;

const hasPendingFileWork = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/**
 * Ends the process. A normal exit waits for file threads, which may never return when a disk does not respond
 * (a network share whose server is down). In that case the process ends by a signal. A service manager treats
 * SIGTERM as a clean end, and SIGKILL as a failure after which it restarts the gateway.
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
