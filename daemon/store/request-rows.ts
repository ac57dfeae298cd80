import type { RequestDetailView, RequestRecord, RequestTraceView } from '../contract/system.ts';
import { fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';

/** A finished request that is queued for the database. */
export interface QueuedRequest {
  readonly record: RequestRecord;
  /**
   * The trace without its overhead, serialised to JSON when the request ends. Queued objects would survive
   * two collections.
   */
  readonly story: string | null;
  readonly overheadMs: number | null;
}

/** Returns a queue entry for a finished request. */
export function queuedRequest(record: RequestRecord, story?: RequestTraceView): QueuedRequest {
  if (story === undefined) return { record, story: null, overheadMs: null };
  const { overhead_ms, ...rest } = story;
  return { record, story: toJson(rest), overheadMs: overhead_ms };
}

/** Returns the record and the trace of an entry. The trace is null if it is missing or damaged. */
export function detailOf({ record, story, overheadMs }: QueuedRequest): RequestDetailView {
  const changed = fromJson<Omit<RequestTraceView, 'overhead_ms'> | null>(story, null);
  // Rows of earlier versions have no conversation.
  const { conversation = null } = changed ?? {};
  return { ...record, story: changed && { ...changed, conversation, overhead_ms: overheadMs } };
}

/** A request in the file. Requests are numbered in the order in which they were written. */
export interface StoredRequest extends QueuedRequest {
  readonly seq: number;
}

/**
 * Requests that one removal deletes at most. Each removal blocks the event loop for a moment.
 */
const MAX_REMOVED_PER_STEP = 2_000;

/** The columns of a record, in the order of `valuesOf`. */
const COLUMNS = [
  ...['id', 'at', 'route', 'asked', 'model', 'slot', 'upstream', 'step', 'tier', 'state', 'status'],
  ...['duration_ms', 'ttft_ms', 'prompt_tokens', 'completion_tokens', 'error', 'message', 'reason', 'app'],
  ...['user_agent', 'address', 'story', 'overhead_ms'],
];

/** Written out, because a loop over the names costs more than all other work per row. */
const valuesOf = ({ record, story, overheadMs }: QueuedRequest): readonly unknown[] => [
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
  record.message,
  record.reason,
  record.app,
  record.user_agent,
  record.address,
  story,
  overheadMs,
];

interface Row extends RequestRecord {
  readonly seq: number;
  readonly story: string | null;
  readonly overhead_ms: number | null;
}

const storedOf = ({ seq, story, overhead_ms, ...record }: Row): StoredRequest => ({
  seq,
  record,
  story,
  overheadMs: overhead_ms,
});

/** Finished requests in the file, one row each. All methods throw SQLite errors. */
export class RequestRows {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: Db) {
    this.#sql = statements(db);
  }

  /** Writes requests. Call it in a transaction. A repeated write of the same request changes nothing. */
  add(all: readonly QueuedRequest[]): void {
    for (const each of all) this.#sql.insert.run(...valuesOf(each));
  }

  /** Returns the number of the newest request, or 0 when there is none. */
  newest(): number {
    return this.#sql.newest.get() ?? 0;
  }

  /** Returns at most `limit` requests with numbers between both, newest first. */
  between(above: number, below: number, limit: number): StoredRequest[] {
    return this.#sql.back.all(above, below, limit).map(storedOf);
  }

  find(id: string): StoredRequest | undefined {
    const row = this.#sql.byId.get(id);
    return row && storedOf(row);
  }

  /** Removes requests older than the newest `rows`, some per call. Returns whether any were removed. */
  keep(rows: number): boolean {
    return this.#sql.prune.run(rows).changes > 0;
  }

  /**
   * Removes, among the oldest, requests that began before `since` (ISO text, UTC). Returns whether any were
   * removed.
   */
  expire(since: string): boolean {
    return this.#sql.expire.run(since).changes > 0;
  }
}

function statements(db: Db) {
  const names = COLUMNS.join(', ');
  const oldest = `(SELECT min(seq) FROM requests) + ${MAX_REMOVED_PER_STEP - 1}`;
  return {
    insert: db.prepare<unknown[]>(
      `INSERT INTO requests (${names}) VALUES (${COLUMNS.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`,
    ),
    newest: db.prepare<[], number>('SELECT max(seq) FROM requests').pluck(),
    back: db.prepare<[number, number, number], Row>(
      `SELECT seq, ${names} FROM requests WHERE seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    byId: db.prepare<[string], Row>(`SELECT seq, ${names} FROM requests WHERE id = ?`),
    prune: db.prepare<[number]>(
      `DELETE FROM requests WHERE seq <= min((SELECT max(seq) FROM requests) - ?, ${oldest})`,
    ),
    // Requests are ordered by their end, so checking only the oldest ones is sufficient and bounded.
    expire: db.prepare<[string]>(`DELETE FROM requests WHERE seq <= ${oldest} AND at < ?`),
  };
}
