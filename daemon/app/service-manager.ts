import type { Log } from '../lib/log.ts';
import { type Notify, systemdNotifier } from '../lib/process/systemd-notify.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ServiceManagerOptions {
  env: Env;
  log: Log;
  /** A cheap check of the dependencies of the gateway. The watchdog is not fed while it hangs or throws. */
  check(): void;
  /** One line for `systemctl status`. */
  status(): string;
  notify?: Notify | null;
}

/** Notifications to systemd (`Type=notify`). Without a service manager every call does nothing. */
export interface ServiceManager {
  /** Announces that the gateway accepts requests. Starts to feed the watchdog if the unit has one. */
  ready(): void;
  /** Sends the status line if it has changed, at most every two seconds. */
  changed(): void;
  /** Announces the start and end of a reload, so that `systemctl reload` waits for it. */
  reload(work: () => Promise<void>): Promise<void>;
  /** Announces a stop that may take `limitMs`, and extends the stop limit of the unit. */
  stopping(limitMs: number): void;
}

/** Minimum time between two status lines (ms). */
const STATUS_GAP_MS = 2_000;

/**
 * Returns the heartbeat interval in milliseconds: a third of the watchdog limit, so that a late one causes no
 * restart. Returns null when the unit has no watchdog or the variables are for another process.
 */
export function watchdogPeriod(env: Env, pid: number): number | null {
  const limit = Number(env.WATCHDOG_USEC);
  if (!env.WATCHDOG_USEC || !Number.isFinite(limit) || limit <= 0) return null;
  if (env.WATCHDOG_PID && env.WATCHDOG_PID !== String(pid)) return null;
  return Math.max(1, Math.floor(limit / 3_000));
}

const microseconds = (ms: number): number => Math.ceil(ms * 1_000);

/** Creates the notifications for the service manager in `$NOTIFY_SOCKET`. */
export function serviceManager(options: ServiceManagerOptions): ServiceManager {
  const { env, log } = options;
  const notify = options.notify === undefined ? systemdNotifier(env.NOTIFY_SOCKET) : options.notify;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: NodeJS.Timeout | null = null;
  let feeding = false;
  let lastStatus = '';
  let unreachable = false;

  /** Sends messages one at a time, so that the manager receives them in order. */
  const send = (...words: string[]): Promise<void> => {
    if (notify === null) return Promise.resolve();
    const sent = last.then(async () => {
      const accepted = await notify(words);
      if (!accepted && !unreachable) log.warn({ event: 'notify' }, 'cannot notify the service manager');
      unreachable = !accepted;
    });
    last = sent;
    return sent;
  };
  const statusField = (): string => {
    lastStatus = options.status();
    return `STATUS=${lastStatus}`;
  };
  /**
   * Runs on the main event loop, so that a blocked loop sends nothing. Skips while an earlier heartbeat is
   * pending.
   */
  const feedWatchdog = (): void => {
    if (feeding) return;
    try {
      options.check();
    } catch (error) {
      log.error({ event: 'watchdog', err: error }, 'the watchdog check failed');
      return;
    }
    feeding = true;
    void send('WATCHDOG=1', statusField()).finally(() => {
      feeding = false;
    });
  };
  return {
    ready() {
      if (notify === null) return;
      void send('READY=1', statusField());
      const period = watchdogPeriod(env, process.pid);
      if (period !== null) setInterval(feedWatchdog, period).unref();
    },
    changed() {
      if (notify === null || waiting !== null) return;
      waiting = setTimeout(() => {
        waiting = null;
        if (options.status() !== lastStatus) void send(statusField());
      }, STATUS_GAP_MS);
      waiting.unref();
    },
    async reload(work) {
      await send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
      try {
        await work();
      } finally {
        await send('READY=1', statusField());
      }
    },
    stopping(limitMs) {
      void send(
        'STOPPING=1',
        `EXTEND_TIMEOUT_USEC=${microseconds(limitMs)}`,
        'STATUS=Stopping: waiting for running requests.',
      );
    },
  };
}
