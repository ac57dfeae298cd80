import { runCommand } from './run-command.ts';

/** Time limit for one message to the service manager (ms). */
const NOTIFY_TIMEOUT_MS = 5_000;

/**
 * Sends `NAME=value` assignments to the service manager (man sd_notify) and returns whether they were
 * accepted. Never throws.
 */
export type Notify = (words: readonly string[]) => Promise<boolean>;

/** Removes line breaks: a second line would be read as another assignment. */
const oneLine = (word: string): string => word.replace(/[\r\n\0]+/g, ' ');

/**
 * Returns the notifier for `$NOTIFY_SOCKET`, or null without one. Node cannot send to a unix datagram socket,
 * so `systemd-notify` does it (5 ms). It waits until the manager has read the message, which preserves the
 * order.
 */
export function systemdNotifier(socket: string | undefined, path?: string): Notify | null {
  if (!socket) return null;
  const options = { timeoutMs: NOTIFY_TIMEOUT_MS, maxBytes: 1_000, env: { NOTIFY_SOCKET: socket }, path };
  return async (words) => (await runCommand('systemd-notify', words.map(oneLine), options)).code === 0;
}
