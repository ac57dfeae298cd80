import type { RequestDetailView, RequestRecord, RequestStoryView } from '../contract/system.ts';
import { Backlog } from './backlog.ts';
import { clampRows, clip, fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';
import type { Faults } from './faults.ts';
import type { Kept } from './retention.ts';
import { type UsageRepo, usageRepo } from './usage.ts';

/** How much is kept. */
export interface LogBounds {
  readonly rows: number;
  /** Rows of requests that began before this moment go (ISO text, UTC); null: their age does not count. */
  readonly since: string | null;
}

/** The log of finished requests. It is no ledger: the last second before a kill, or rows beyond the queue, may be missing. */
export interface RequestsRepo {
  /**
   * Queues the record; never throws, never waits for the disk. A second record under the same id is ignored.
   */
  add(record: RequestRecord, story?: RequestStoryView): void;
  /**
   * Newest first, at most 1,000; with `before` those that ended before the request of this id, null when that is
   * unknown or pruned. Throws `store.unavailable`.
   */
  list(limit: number): RequestRecord[];
  list(limit: number, before: string | null): RequestRecord[] | null;
  /** Null when unknown or pruned; throws `store.unavailable`. */
  get(id: string): RequestDetailView | null;
  /**
   * One step of keeping the log within its bounds: at most 2,000 rows go, the oldest first. True when there may be more to
   * do. Never throws.
   */
  prune(bounds: LogBounds): boolean;
}

const WAITING = 1_000;
const BATCH = 250;
const LISTED = 1_000;
/** Rows that one prune removes at most: each one stops the event loop for a moment. */
const PRUNED_AT_ONCE = 2_000;

const COLUMNS = [
  'id',
  'at',
  'route',
  'asked',
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

/** A finished request on its way to the disk. */
interface Finished {
  readonly record: RequestRecord;
  /** JSON, made as the request ends: what a story is made from would lie in the way of two collections while it waits. */
  readonly story: string | null;
}

/** The values of a record in the order of COLUMNS, written out: a loop over names costs more than the rest of the row. */
const valuesOf = (record: RequestRecord, story: string | null): unknown[] => [
  record.id,
  record.at,
  record.route,
  record.asked,
  record.model,
  record.slot,
  record.upstream,
  record.step,
  record.tier,
  record.state,
  record.status,
  record.duration_ms,
  record.ttft_ms,
  record.prompt_tokens,
  record.completion_tokens,
  record.error,
  story,
];

type StoredDetail = RequestRecord & { story: string | null };

/** A record whose free texts are no longer than a row keeps. */
function clipped(record: RequestRecord): RequestRecord {
  const [asked, model, error] = [clip(record.asked), clip(record.model), clip(record.error)];
  const fits = asked === record.asked && model === record.model && error === record.error;
  return fits ? record : { ...record, asked, model, error };
}

function statements(db: Db) {
  const names = COLUMNS.join(', ');
  const values = COLUMNS.map(() => '?').join(', ');
  return {
    insert: db.prepare<unknown[]>(
      `INSERT INTO requests (${names}, story) VALUES (${values}, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    list: db.prepare<[number, number], RequestRecord>(
      `SELECT ${names} FROM requests WHERE seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    seq: db.prepare<[string], { seq: number }>('SELECT seq FROM requests WHERE id = ?'),
    get: db.prepare<[string], StoredDetail>(`SELECT ${names}, story FROM requests WHERE id = ?`),
    prune: db.prepare<[number]>(
      `DELETE FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ?
       ORDER BY seq LIMIT ${PRUNED_AT_ONCE}`,
    ),
    // Rows stand in the order in which their requests ended: looking at the oldest ones is enough, and bounded.
    expire: db.prepare<[string]>(
      `DELETE FROM requests WHERE seq IN
         (SELECT seq FROM (SELECT seq, at FROM requests ORDER BY seq LIMIT ${PRUNED_AT_ONCE}) WHERE at < ?)`,
    ),
  };
}

export interface RequestsParts {
  repo: RequestsRepo;
  usage: UsageRepo;
  backlog: Backlog<Finished>;
}

export interface RequestsOptions {
  /** Asked before each flush (a log file that grows without end). */
  paused(): boolean;
  /** Rows that are kept, asked at each write. */
  kept(): Pick<Kept, 'requestRows' | 'usageRows'>;
}

export function requestsRepo(db: Db, faults: Faults, { paused, kept }: RequestsOptions): RequestsParts {
  const sql = statements(db);
  const usage = usageRepo(db, faults, () => kept().usageRows);
  const write = db.transaction((finished: readonly Finished[]) => {
    const isNew = ({ record, story }: Finished) => sql.insert.run(...valuesOf(record, story)).changes === 1;
    const rows = kept().requestRows;
    // Room first: the rows take the very pages that those before them left, and each page is written once.
    sql.prune.run(Math.max(0, rows - finished.length));
    usage.count(finished.filter(isNew).map(({ record }) => record));
    sql.prune.run(rows);
  });
  const backlog = new Backlog<Finished>({
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
  const pending = () => backlog.pending().map(({ record }) => record);
  const stored = (beforeSeq: number, rows: number) =>
    faults.read('requests', () => sql.list.all(beforeSeq, rows));
  /** Those behind `before`; the ones that still wait to be written are the newest. */
  const older = (before: string, rows: number): RequestRecord[] | null => {
    const waiting = pending();
    const place = waiting.findIndex((record) => record.id === before);
    if (place >= 0) return join(waiting.slice(0, place), rows);
    const seq = faults.read('requests', () => sql.seq.get(before))?.seq;
    return seq === undefined ? null : stored(seq, rows);
  };
  const join = (waiting: readonly RequestRecord[], rows: number): RequestRecord[] => {
    const newest = waiting.slice(-rows).reverse();
    return [...newest, ...stored(Number.MAX_SAFE_INTEGER, rows)].slice(0, rows);
  };
  function list(limit: number): RequestRecord[];
  function list(limit: number, before: string | null): RequestRecord[] | null;
  function list(limit: number, before: string | null = null): RequestRecord[] | null {
    const rows = clampRows(limit, LISTED);
    return before === null ? join(pending(), rows) : older(before, rows);
  }
  const repo: RequestsRepo = {
    list,
    add(record, story) {
      backlog.push({ record: clipped(record), story: story ? toJson(story) : null });
      flushSoon();
    },
    get(id) {
      const waiting = backlog.pending().find(({ record }) => record.id === id);
      if (waiting) return { ...waiting.record, story: fromJson(waiting.story, null) };
      const row = faults.read('requests', () => sql.get.get(id));
      return row === undefined ? null : { ...row, story: fromJson(row.story, null) };
    },
    prune({ rows, since }) {
      let gone = 0;
      faults.attempt('requests', () => {
        gone = sql.prune.run(rows).changes;
        if (since !== null && gone < PRUNED_AT_ONCE) gone += sql.expire.run(since).changes;
      });
      return gone >= PRUNED_AT_ONCE;
    },
  };
  return { repo, usage: usage.repo, backlog };
}
