import { lookup } from 'node:dns/promises';
import { isIP, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';
import { SetupError } from '../lib/setup-error.ts';

export interface ListenOptions {
  host: string;
  port: number;
  /** A socket that already listens at `host` and `port`, opened by the service manager. */
  fd?: number;
  /** How long to wait for an address that this machine does not have yet (ms); default 0. */
  addressWaitMs?: number;
  /** Between two tries (ms). */
  retryIntervalMs?: number;
  /**
   * Rejects an address that must not be opened. Called when a name is resolved again, because its address may
   * be new.
   */
  checkAddress?: (address: string) => Promise<void>;
  log: Log;
}

const RETRY_INTERVAL_MS = 1_000;

/** Errors that may resolve once the network is up: the address of a VPN or of DHCP, or a name. */
const RETRYABLE = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'];

const ADVICE: Record<string, string> = {
  EADDRINUSE:
    'Another program uses this port. Stop it, or choose another one with SVC_PORT or [server].port.',
  EACCES: 'This port needs more rights. Choose one above 1023 with SVC_PORT or [server].port.',
  EADDRNOTAVAIL: 'This host has no such address. Correct SVC_BIND_HOST or [server].bind_host.',
  ENOTFOUND: 'This name does not resolve. Correct SVC_BIND_HOST or [server].bind_host.',
};

/**
 * Returns how long to wait for the address (ms). At boot a unit may start before its address exists, so a
 * service waits half of its start timeout. On a terminal an error is reported immediately.
 */
export const addressWaitFor = (env: Readonly<Record<string, string | undefined>>): number =>
  env.NOTIFY_SOCKET ? 90_000 : 0;

/**
 * Opens the listener. Throws SetupError with advice when it cannot be opened, or not within the wait time,
 * and what `checkAddress` throws.
 */
export async function listen(server: Server, options: ListenOptions): Promise<void> {
  const { host, port, log, addressWaitMs = 0, retryIntervalMs = RETRY_INTERVAL_MS } = options;
  const end = performance.now() + addressWaitMs;
  for (let tries = 0; ; tries++) {
    const named = tries > 0 && options.fd === undefined && isIP(host) === 0;
    const error = await (named ? tryName(server, options) : tryOnce(server, options));
    if (error === null) return;
    const code = error.code ?? error.message;
    if (!RETRYABLE.includes(code) || performance.now() >= end) {
      const advice = ADVICE[code] ?? 'See SVC_BIND_HOST and SVC_PORT.';
      throw new SetupError(`Cannot listen on ${host} port ${port}: ${code}.`, advice);
    }
    if (tries === 0) {
      const seconds = Math.round(addressWaitMs / 1000);
      log.warn(
        { host, reason: code },
        `this machine does not have this address yet; waiting up to ${seconds} s`,
      );
    }
    await pause(retryIntervalMs);
  }
}

/** Opens exactly the address that was checked. */
async function tryName(server: Server, options: ListenOptions): Promise<NodeJS.ErrnoException | null> {
  const found = await lookup(options.host).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return found;
  await options.checkAddress?.(found.address);
  return tryOnce(server, { ...options, host: found.address });
}

function tryOnce(server: Server, { fd, host, port }: ListenOptions): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const done = () => resolve(null);
    server.once('listening', done);
    server.once('error', (error) => {
      server.off('listening', done);
      resolve(error);
    });
    server.listen(fd === undefined ? { host, port } : { fd });
  });
}
