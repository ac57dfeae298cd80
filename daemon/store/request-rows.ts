import type { RequestDetailView, RequestRecord, RequestStoryView } from '../contract/system.ts';
import { fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';

/** A finished request that is queued for the database. */
export interface QueuedRequest {
  readonly record: RequestRecord;
  /** The trace as JSON, serialised when the request ends. Queued objects would survive two collections. */
  readonly story: string | null;
}

/** Returns a queue entry for a finished request. */
export const queuedRequest = (record: RequestRecord, story?: RequestStoryView): QueuedRequest => ({
  record,
  story: story === undefined ? null : toJson(story),
});

/** Returns the record and the trace of an entry. The trace is null if it is missing or damaged. */
export const detailOf = ({ record, story }: QueuedRequest): RequestDetailView => ({
  ...record,
  story: fromJson<RequestStoryView | null>(story, null),
});

/** A request in the file. Requests are numbered in the order in which they were written. */
export interface StoredRequest extends QueuedRequest {
  readonly seq: number;
}

/** Requests that one removal deletes at most. Each removal blocks the event loop for a moment. */
const MAX_REMOVED_PER_STEP = 2_000;

/** The columns of a request, in the order of {@link valuesOf}. */
const REQUEST_COLUMNS = [
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

/** Written out, because a loop over the names costs more than all other work per row. */
const valuesOf = ({ record, story }: QueuedRequest): readonly unknown[] => [
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

type Row = RequestRecord & { readonly seq: number; readonly story: string | null };

const storedRequest = ({ seq, story, ...record }: Row): StoredRequest => ({ seq, story, record });

/** Finished requests in the file, one row each. Removed oldest first. All methods throw SQLite errors. */
export class RequestRows {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: Db) {
    this.#sql = statements(db);
  }

  /** Writes requests. Call it in a transaction. */
  add(all: readonly QueuedRequest[]): void {
    let seq = this.#sql.newest.get() ?? 0;
    for (const each of all) this.#sql.insert.run(++seq, ...valuesOf(each));
  }

  /** Returns at most `limit` requests with numbers below `below`, newest first. */
  below(below: number, limit: number): StoredRequest[] {
    return this.#sql.below.all(below, limit).map(storedRequest);
  }

  find(id: string): StoredRequest | undefined {
    const row = this.#sql.find.get(id);
    return row && storedRequest(row);
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
  const columns = [...REQUEST_COLUMNS, 'story'].join(', ');
  const oldest = `(SELECT min(seq) FROM requests) + ${MAX_REMOVED_PER_STEP - 1}`;
  return {
    insert: db.prepare<unknown[]>(
      `INSERT INTO requests (seq, ${columns}) VALUES (?${', ?'.repeat(REQUEST_COLUMNS.length + 1)})`,
    ),
    newest: db.prepare<[], number>('SELECT max(seq) FROM requests').pluck(),
    below: db.prepare<[number, number], Row>(
      `SELECT seq, ${columns} FROM requests WHERE seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    find: db.prepare<[string], Row>(`SELECT seq, ${columns} FROM requests WHERE id = ? LIMIT 1`),
    prune: db.prepare<[number]>(
      `DELETE FROM requests WHERE seq <= min((SELECT max(seq) FROM requests) - ?, ${oldest})`,
    ),
    // Requests are ordered by their end, so checking only the oldest ones is sufficient and bounded.
    expire: db.prepare<[string]>(`DELETE FROM requests WHERE seq <= ${oldest} AND at < ?`),
  };
}
