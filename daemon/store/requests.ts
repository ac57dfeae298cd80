import type { RequestDetailView, RequestRecord, RequestTraceView } from '../contract/system.ts';
import { clampRows, clip } from './columns.ts';
import type { Db } from './connection.ts';
import { detailOf, type QueuedRequest, queuedRequest, RequestRows } from './request-rows.ts';
import type { RetentionLimits } from './retention-limits.ts';
import { type UsageRepo, usageRepo } from './usage.ts';
import type { WriteHealth } from './write-health.ts';
import { WriteQueue } from './write-queue.ts';

/** Limits of the request log. */
export interface LogBounds {
  readonly rows: number;
  /** Requests that began before this time are removed (ISO text, UTC). Null: no limit by age. */
  readonly since: string | null;
}

/**
 * The log of finished requests. It is not a ledger: the last second before a kill, or rows above the queue
 * limit, may be missing.
 */
export interface RequestsRepo {
  /** Queues the record. Call it once per id. Never throws and never waits for the disk. */
  add(record: RequestRecord, story?: RequestTraceView): void;
  /**
   * Returns records newest first, at most 1,000. With `before`: those that ended before the request with this
   * id, or null when that is unknown or pruned. Throws `store.unavailable`.
   */
  list(limit: number): RequestRecord[];
  list(limit: number, before: string | null): RequestRecord[] | null;
  /** Returns null when the id is unknown or pruned. Throws `store.unavailable`. */
  get(id: string): RequestDetailView | null;
  /**
   * Performs one step of pruning: removes at most about 2,000 rows, oldest first. Returns whether there may
   * be more to remove. Never throws.
   */
  prune(bounds: LogBounds): boolean;
}

const MAX_QUEUED = 1_000;
/** Maximum requests per transaction. A transaction blocks the event loop. */
const MAX_BATCH = 250;
const MAX_LISTED = 1_000;

/** Returns the record with free texts truncated to the limit of a row. */
function clipped(record: RequestRecord): RequestRecord {
  const [requested, model, error] = [clip(record.asked), clip(record.model), clip(record.error)];
  const fits = requested === record.asked && model === record.model && error === record.error;
  return fits ? record : { ...record, asked: requested, model, error };
}

export interface RequestsStore {
  repo: RequestsRepo;
  usage: UsageRepo;
  backlog: WriteQueue<QueuedRequest>;
}

export interface RequestsOptions {
  /** Called before each flush. Returns true while the log file of the database is too large. */
  paused(): boolean;
  /** Returns the row limits. Called at each write. */
  limits(): Pick<RetentionLimits, 'requestRows' | 'usageRows'>;
}

export function requestsRepo(
  db: Db,
  faults: WriteHealth,
  { paused, limits }: RequestsOptions,
): RequestsStore {
  const requests = new RequestRows(db);
  const usage = usageRepo(db, faults, () => limits().usageRows);
  const write = db.transaction((all: readonly QueuedRequest[]) => {
    const rows = limits().requestRows;
    // Removes rows first: the new ones then reuse their pages, and each page is written once.
    requests.keep(Math.max(0, rows - all.length));
    requests.add(all);
    usage.count(all.map(({ record }) => record));
    requests.keep(rows);
  });
  const backlog = new WriteQueue<QueuedRequest>({
    faults,
    what: 'requests',
    limit: MAX_QUEUED,
    batch: MAX_BATCH,
    write,
    paused,
  });
  let flushScheduled = false;
  /** A full batch is written at once, so that a busy gateway loses no row to the queue limit. */
  const flushSoon = (): void => {
    if (flushScheduled || backlog.pending().length < MAX_BATCH) return;
    flushScheduled = true;
    setImmediate(() => {
      flushScheduled = false;
      backlog.flush();
    });
  };
  const pending = () => backlog.pending().map(({ record }) => record);
  /** Rows beyond the limit count as removed, before they are. */
  const oldestSeq = () => requests.newest() - limits().requestRows;
  const stored = (below: number, rows: number) =>
    faults.read('requests', () => requests.between(oldestSeq(), below, rows)).map(({ record }) => record);
  const written = (id: string) =>
    faults.read('requests', () => {
      const found = requests.find(id);
      return found !== undefined && found.seq > oldestSeq() ? found : undefined;
    });
  /** Returns the records older than `before`. Queued records are the newest. */
  const older = (before: string, rows: number): RequestRecord[] | null => {
    const queued = pending();
    const position = queued.findIndex((record) => record.id === before);
    if (position >= 0) return join(queued.slice(0, position), rows);
    const seq = written(before)?.seq;
    return seq === undefined ? null : stored(seq, rows);
  };
  const join = (queued: readonly RequestRecord[], rows: number): RequestRecord[] => {
    const newest = queued.slice(-rows).reverse();
    return [...newest, ...stored(Number.MAX_SAFE_INTEGER, rows)].slice(0, rows);
  };
  function list(limit: number): RequestRecord[];
  function list(limit: number, before: string | null): RequestRecord[] | null;
  function list(limit: number, before: string | null = null): RequestRecord[] | null {
    const rows = clampRows(limit, MAX_LISTED);
    return before === null ? join(pending(), rows) : older(before, rows);
  }
  const repo: RequestsRepo = {
    list,
    add(record, story) {
      backlog.push(queuedRequest(clipped(record), story));
      flushSoon();
    },
    get(id) {
      const queued = backlog.pending().find(({ record }) => record.id === id);
      const found = queued ?? written(id);
      return found === undefined ? null : detailOf(found);
    },
    prune({ rows, since }) {
      let removed = false;
      faults.attempt('requests', () => {
        removed = requests.keep(rows) || (since !== null && requests.expire(since));
      });
      return removed;
    },
  };
  return { repo, usage: usage.repo, backlog };
}
