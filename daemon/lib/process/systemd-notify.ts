import { runCommand } from './run-command.ts';

/** Longest time one message to the service manager may take (ms). */
const NOTIFY_TIMEOUT_MS = 5_000;

/** Tells the service manager `NAME=value` words (man sd_notify); answers whether they were taken. Never throws. */
export type Notify = (words: readonly string[]) => Promise<boolean>;

/** A status or another value stands on one line, or it would read as a word of its own. */
const oneLine = (word: string): string => word.replace(/[\r\n\0]+/g, ' ');

/**
 * The way to the service manager behind `$NOTIFY_SOCKET`, or null where there is none. Node can't send to a datagram socket of a
 * path, so that `systemd-notify` does it (5 ms); it waits until the manager has seen the words, which keeps their order.
 */
export function systemdNotifier(socket: string | undefined, path?: string): Notify | null {
  if (!socket) return null;
  const options = { timeoutMs: NOTIFY_TIMEOUT_MS, maxBytes: 1_000, env: { NOTIFY_SOCKET: socket }, path };
  return async (words) => (await runCommand('systemd-notify', words.map(oneLine), options)).code === 0;
}
