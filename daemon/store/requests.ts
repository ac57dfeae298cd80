import type { RequestRecord } from '../contract/system.ts';
import { Backlog } from './backlog.ts';
import { clampRows, clip } from './columns.ts';
import type { Db } from './connection.ts';
import type { Faults } from './faults.ts';
import { type UsageRepo, usageRepo } from './usage.ts';

/** The log of finished requests. It is no ledger: the last second before a kill, or rows beyond the queue, may be missing. */
export interface RequestsRepo {
  /** Queues the record; never throws, never waits for the disk. A second record under the same id is ignored. */
  add(record: RequestRecord): void;
  /** Newest first, at most 1,000; throws `store.unavailable`. */
  list(limit: number): RequestRecord[];
  /** Null when unknown or pruned; throws `store.unavailable`. */
  get(id: string): RequestRecord | null;
  /** Keeps the newest `maxRows` from now on; the excess goes step by step. Never throws. */
  prune(maxRows: number): void;
}

const WAITING = 1_000;
const BATCH = 250;
const LISTED = 1_000;
const DEFAULT_KEPT = 20_000;
/** Rows that one prune removes at most: each one stops the event loop for a moment. */
const PRUNED_AT_ONCE = 2_000;

const COLUMNS = [
  'id',
  'at',
  'route',
  'model',
  'slot',
  'upstream',
  'step',
  'tier',
  'state',
  'status',
  'duration_ms',
  'ttft_ms',
  'prompt_tokens',
  'completion_tokens',
  'error',
] as const satisfies readonly (keyof RequestRecord)[];

function statements(db: Db) {
  const names = COLUMNS.join(', ');
  const values = COLUMNS.map(() => '?').join(', ');
  return {
    insert: db.prepare<unknown[]>(
      `INSERT INTO requests (${names}) VALUES (${values}) ON CONFLICT (id) DO NOTHING`,
    ),
    list: db.prepare<[number], RequestRecord>(`SELECT ${names} FROM requests ORDER BY seq DESC LIMIT ?`),
    get: db.prepare<[string], RequestRecord>(`SELECT ${names} FROM requests WHERE id = ?`),
    prune: db.prepare<[number]>(
      `DELETE FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ?
       ORDER BY seq LIMIT ${PRUNED_AT_ONCE}`,
    ),
  };
}

export interface RequestsParts {
  repo: RequestsRepo;
  usage: UsageRepo;
  backlog: Backlog<RequestRecord>;
}

/** `paused` is asked before each flush (a log file that grows without end). */
export function requestsRepo(db: Db, faults: Faults, paused: () => boolean): RequestsParts {
  const sql = statements(db);
  const usage = usageRepo(db, faults);
  let kept = DEFAULT_KEPT;
  const write = db.transaction((records: readonly RequestRecord[]) => {
    const isNew = (record: RequestRecord) =>
      sql.insert.run(...COLUMNS.map((name) => record[name])).changes === 1;
    usage.count(records.filter(isNew));
    sql.prune.run(kept);
  });
  const backlog = new Backlog<RequestRecord>({
    faults,
    what: 'requests',
    limit: WAITING,
    batch: BATCH,
    write,
    paused,
  });
  let soon = false;
  /** A full batch does not wait for the timer, so that a busy gateway loses no row to the bound of the queue. */
  const flushSoon = (): void => {
    if (soon || backlog.pending().length < BATCH) return;
    soon = true;
    setImmediate(() => {
      soon = false;
      backlog.flush();
    });
  };
  const repo: RequestsRepo = {
    add(record) {
      backlog.push({ ...record, model: clip(record.model), error: clip(record.error) });
      flushSoon();
    },
    list(limit) {
      const rows = clampRows(limit, LISTED);
      const waiting = backlog.pending().slice(-rows).reverse();
      const stored = faults.read('requests', () => sql.list.all(rows));
      return [...waiting, ...stored].slice(0, rows);
    },
    get: (id) =>
      backlog.pending().find((record) => record.id === id) ??
      faults.read('requests', () => sql.get.get(id)) ??
      null,
    prune(maxRows) {
      kept = Math.max(0, Math.trunc(maxRows));
      faults.attempt('requests', () => sql.prune.run(kept));
    },
  };
  return { repo, usage: usage.repo, backlog };
}
