import { statSync } from 'node:fs';
import type { Log } from '../lib/log.ts';
import { type AuditRepo, auditRepo } from './audit.ts';
import type { Db } from './connection.ts';
import { healthOf, type StoreHealth, WAL_ALARM_BYTES, WAL_LIMIT_BYTES } from './health.ts';
import { type KeyValueRepo, keyValueRepo } from './key-value.ts';
import { type MemoryRepo, memoryRepo } from './memory.ts';
import { type ModelsRepo, modelsRepo } from './models.ts';
import { type Opened, openDatabase } from './open.ts';
import { type PullsRepo, pullsRepo } from './pulls.ts';
import { type RequestsOptions, type RequestsRepo, requestsRepo } from './requests.ts';
import { Retention } from './retention.ts';
import { DEFAULT_RETENTION, type RetentionLimits } from './retention-limits.ts';
import type { Migration } from './schema.ts';
import { type SessionsRepo, sessionsRepo } from './sessions.ts';
import type { UsageRepo } from './usage.ts';
import { WriteHealth } from './write-health.ts';

/** The gateway's database, one repository per family of tables. */
export interface Store {
  readonly sessions: SessionsRepo;
  readonly audit: AuditRepo;
  readonly requests: RequestsRepo;
  readonly usage: UsageRepo;
  readonly models: ModelsRepo;
  readonly pulls: PullsRepo;
  readonly memory: MemoryRepo;
  readonly keyValue: KeyValueRepo;
  /**
   * The content of an earlier run is not available, so revoked sessions are unknown. The safe response is a
   * new signing secret.
   */
  readonly isContentLost: boolean;
  /** Returns the health as of the latest access. Accesses nothing. */
  health(): StoreHealth;
  /**
   * Performs one cheap read, reads the size of the log, and after a failed write performs one small write.
   * For health checks. Never throws.
   */
  check(): void;
  /** Writes queued rows as far as possible and closes the file. Later calls do nothing. Never throws. */
  close(): void;
}

export interface StoreOptions {
  /** The state folder, which contains `svc.db`. */
  folder: string;
  log: Log;
  /** Unix milliseconds; default the clock. */
  now?: () => number;
  /** Returns the retention limits. Called at each write. Default: the defaults of the settings. */
  limits?: () => RetentionLimits;
  migrations?: readonly Migration[];
}

const FLUSH_MS = 1_000;
const PROBE = 'store.probe';

/** Returns the bytes of the write-ahead log, or 0 when it is missing or unreachable. */
function walSize(file: string): number {
  try {
    return statSync(`${file}-wal`).size;
  } catch {
    return 0;
  }
}

function repositories(db: Db, faults: WriteHealth, now: () => number, log: RequestsOptions) {
  const sessions = sessionsRepo(db, faults);
  const keyValue = keyValueRepo(db, faults);
  const audit = auditRepo(db, faults, now);
  const requests = requestsRepo(db, faults, log);
  return {
    repos: {
      sessions: sessions.repo,
      audit: audit.repo,
      requests: requests.repo,
      usage: requests.usage,
      models: modelsRepo(db, faults),
      pulls: pullsRepo(db, faults),
      memory: memoryRepo(db, faults, now),
      keyValue: keyValue.repo,
    },
    // The order of a flush: security-relevant rows first.
    backlogs: [sessions.backlog, keyValue.backlog, audit.backlog, requests.backlog],
    ping: db.prepare('SELECT count(*) FROM facts'),
  };
}

type OpenedStore = Opened<ReturnType<typeof repositories>>;

function closeQuietly(opened: OpenedStore, faults: WriteHealth, log: Log): void {
  const droppedRows = opened.built.backlogs.reduce((sum, backlog) => sum + backlog.drain(), 0);
  faults.drop(droppedRows);
  if (droppedRows > 0)
    log.error({ rows: droppedRows }, 'database: rows could not be written before the shutdown');
  faults.attempt('close', () => opened.db.close());
}

/**
 * Opens the store of `folder`. It never stops authentication or inference: a damaged file is moved aside, an
 * unusable one is replaced by memory, and `health()` reports it. Rows of sessions, audit, key-value, models,
 * pulls and memory survive `kill -9` once the call has returned without an error (write-ahead log,
 * synchronous NORMAL). A power failure may lose the last commits. Throws SetupError only for a file of a
 * newer release or an unsafe SQLite library.
 */
export function openStore(options: StoreOptions): Store {
  const { folder, log, now = Date.now, migrations, limits = () => DEFAULT_RETENTION } = options;
  const faults = new WriteHealth(log);
  let walBytes = 0;
  const paused = (): boolean => walBytes >= WAL_LIMIT_BYTES;
  const opened: OpenedStore = openDatabase({
    folder,
    now,
    ...(migrations === undefined ? {} : { migrations }),
    build: (db) => repositories(db, faults, now, { paused, limits }),
  });
  const { db, built, file, location, alarm, sqlite, version } = opened;
  if (alarm !== null) log.error({ folder }, alarm);

  const watchLog = (): void => {
    walBytes = location === 'file' ? walSize(file) : 0;
    if (walBytes >= WAL_ALARM_BYTES) faults.attempt('checkpoint', () => db.pragma('wal_checkpoint(PASSIVE)'));
  };
  const flush = (): void => {
    for (const backlog of built.backlogs) backlog.flush();
  };
  const { requests, usage } = built.repos;
  const retention = new Retention({ requests, usage, limits, now });
  const timer = setInterval(() => {
    flush();
    watchLog();
    // Queued rows are written first, and only a successful write shows that a fault is over.
    if (!paused() && faults.state().failing === null) retention.tick();
  }, FLUSH_MS);
  timer.unref();

  const waiting = (): number => built.backlogs.reduce((sum, backlog) => sum + backlog.pending().length, 0);
  let open = true;
  return {
    ...built.repos,
    isContentLost: opened.isContentLost,
    health: () =>
      healthOf({ ...faults.state(), location, alarm, walBytes, waiting: waiting(), sqlite, version }),
    check() {
      if (!open) return;
      try {
        faults.read('check', () => built.ping.get());
      } catch {
        // Counted and reported by health().
      }
      if (faults.state().failing !== null) {
        built.repos.keyValue.set(PROBE, new Date(now()).toISOString());
        flush();
      }
      watchLog();
    },
    close() {
      if (!open) return;
      open = false;
      clearInterval(timer);
      closeQuietly(opened, faults, log);
    },
  };
}
