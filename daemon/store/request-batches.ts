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
  const { rule, lane, steps, before, waits, overhead_ms, degraded } = story;
  return { record, story: toJson({ rule, lane, steps, before, waits, degraded }), overheadMs: overhead_ms };
}

/** Returns the record and the trace of an entry. The trace is null if it is missing or damaged. */
export function detailOf({ record, story, overheadMs }: QueuedRequest): RequestDetailView {
  const changed = fromJson<Omit<RequestTraceView, 'overhead_ms'> | null>(story, null);
  return { ...record, story: changed && { ...changed, overhead_ms: overheadMs } };
}

/** A request in a batch. Requests are numbered in the order in which they were written. */
export interface StoredRequest extends QueuedRequest {
  readonly seq: number;
}

/**
 * Maximum requests per batch: its transaction blocks the event loop, and reading one request reads the whole
 * batch.
 */
export const MAX_BATCH = 250;
/**
 * Requests that one removal deletes at most, rounded to a batch. Each removal blocks the event loop for a
 * moment.
 */
const MAX_REMOVED_PER_STEP = 2_000;

/**
 * Order of the values of a request in the file: these fields, the trace and its overhead, then `LATER_FIELDS`. Add new
 * fields at the end of `LATER_FIELDS`.
 */
const FIELDS = [
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
const LATER_FIELDS = [
  'message',
  'reason',
  'app',
  'user_agent',
  'address',
] as const satisfies readonly (keyof RequestRecord)[];
/** Number of values of one request. */
const VALUES = FIELDS.length + 2 + LATER_FIELDS.length;

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
  story,
  overheadMs,
  record.message,
  record.reason,
  record.app,
  record.user_agent,
  record.address,
];

/**
 * A request in the file: a bit mask of the values that differ from those of the previous request, followed by
 * those values.
 */
type Packed = readonly [differs: number, ...values: unknown[]];

function pack(values: readonly unknown[], before: readonly unknown[]): Packed {
  let differs = 0;
  const changed: unknown[] = [];
  for (let at = 0; at < values.length; at++) {
    if (values[at] === before[at]) continue;
    differs |= 1 << at;
    changed.push(values[at]);
  }
  return [differs, ...changed];
}

function unpack([differs, ...changed]: readonly unknown[], before: readonly unknown[]): readonly unknown[] {
  let next = 0;
  const bits = typeof differs === 'number' ? differs : 0;
  const known = Array.from({ length: VALUES }, (_, at) => before[at] ?? null);
  return known.map((value, at) => ((bits >> at) & 1 ? (changed[next++] ?? null) : value));
}

/**
 * Encodes requests as differences. Consecutive requests are similar, so this needs a quarter of the bytes and
 * pages.
 */
function textOf(all: readonly QueuedRequest[]): string {
  let before: readonly unknown[] = [];
  const rows = all.map((each) => {
    const values = valuesOf(each);
    const row = pack(values, before);
    before = values;
    return row;
  });
  return JSON.stringify(rows);
}

function finishedOf(values: readonly unknown[]): QueuedRequest {
  const first = FIELDS.map((field, at) => [field, values[at]]);
  const [story, overheadMs, ...rest] = values.slice(FIELDS.length) as [string | null, number | null];
  const record = Object.fromEntries([
    ...first,
    ...LATER_FIELDS.map((field, at) => [field, rest[at] ?? null]),
  ]);
  return { record: record as unknown as RequestRecord, story, overheadMs };
}

interface Row {
  readonly last_seq: number;
  /** Number of requests. */
  readonly requests: number;
  readonly records: string;
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the requests of a batch, oldest first. Empty when its text is damaged. */
function requestsOf({ last_seq, requests, records }: Row): StoredRequest[] {
  const rows = listIn(fromJson<unknown>(records, null));
  let values: readonly unknown[] = [];
  return rows.map((row, at) => {
    values = unpack(listIn(row), values);
    return { seq: last_seq - requests + 1 + at, ...finishedOf(values) };
  });
}

/** Returns the lowest and highest id of a batch, and the latest start time of its requests. */
function rangeOf(all: readonly QueuedRequest[]): { first: string; last: string; at: string } {
  let { id: first, at } = (all[0] as QueuedRequest).record;
  let last = first;
  for (const { record } of all) {
    if (record.id < first) first = record.id;
    if (record.id > last) last = record.id;
    if (record.at > at) at = record.at;
  }
  return { first, last, at };
}

/**
 * Finished requests in the file, one row per batch. One row per request would need three times the CPU time
 * at high load, most of it in bindings and two B-trees. Batches are removed as a whole, oldest first. All
 * methods throw SQLite errors.
 */
export class RequestBatches {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: Db) {
    this.#sql = statements(db);
  }

  /** Writes one batch of at least one and at most `MAX_BATCH` requests. */
  add(all: readonly QueuedRequest[]): void {
    const { first, last, at } = rangeOf(all);
    this.#sql.insert.run(all.length, all.length, first, last, at, textOf(all));
  }

  /** Returns the number of the newest request, or 0 when there is none. */
  newest(): number {
    return this.#sql.newest.get() ?? 0;
  }

  /** Returns at most `limit` requests with numbers between both, newest first. */
  between(above: number, below: number, limit: number): StoredRequest[] {
    const found: StoredRequest[] = [];
    for (const row of this.#sql.back.iterate(below + MAX_BATCH, below, above)) {
      const wanted = requestsOf(row).filter(({ seq }) => seq > above && seq < below);
      found.push(...wanted.reverse());
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  find(id: string): StoredRequest | undefined {
    for (const row of this.#sql.holding.iterate(id, id)) {
      const found = requestsOf(row).find(({ record }) => record.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Removes batches that contain only requests older than the newest `rows`, some per call. Returns whether
   * any were removed.
   */
  keep(rows: number): boolean {
    return this.#sql.prune.run(rows).changes > 0;
  }

  /**
   * Removes, among the oldest, batches whose requests all began before `since` (ISO text, UTC). Returns
   * whether any were removed.
   */
  expire(since: string): boolean {
    return this.#sql.expire.run(since).changes > 0;
  }
}

function statements(db: Db) {
  const oldest = `(SELECT min(last_seq) FROM request_batches) + ${MAX_REMOVED_PER_STEP}`;
  return {
    insert: db.prepare<[number, number, string, string, string, string]>(
      `INSERT INTO request_batches SELECT ifnull(max(last_seq), 0) + ?, ?, ?, ?, ?, ? FROM request_batches`,
    ),
    newest: db.prepare<[], number>('SELECT max(last_seq) FROM request_batches').pluck(),
    // The first bound serves the index, the second one is exact.
    back: db.prepare<[number, number, number], Row>(
      `SELECT last_seq, requests, records FROM request_batches
       WHERE last_seq < ? AND last_seq - requests + 1 < ? AND last_seq > ? ORDER BY last_seq DESC`,
    ),
    holding: db.prepare<[string, string], Row>(
      `SELECT last_seq, requests, records FROM request_batches WHERE last_id >= ? AND first_id <= ?
       ORDER BY last_id`,
    ),
    prune: db.prepare<[number]>(
      `DELETE FROM request_batches WHERE last_seq <= min((SELECT max(last_seq) FROM request_batches) - ?, ${oldest})`,
    ),
    // Batches are ordered by the end of their requests, so checking only the oldest ones is sufficient and
    // bounded.
    expire: db.prepare<[string]>(`DELETE FROM request_batches WHERE last_seq <= ${oldest} AND at < ?`),
  };
}
