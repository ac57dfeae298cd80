import type { RequestDetailView, RequestRecord, RequestStoryView } from '../contract/system.ts';
import { fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';

/** A finished request on its way to the disk. */
export interface QueuedRequest {
  readonly record: RequestRecord;
  /**
   * The story but for its time, as JSON made when the request ended: what a story is made from would lie in the way of two
   * collections while it waits.
   */
  readonly story: string | null;
  readonly overheadMs: number | null;
}

/** A finished request as it waits. */
export function queuedRequest(record: RequestRecord, story?: RequestStoryView): QueuedRequest {
  if (story === undefined) return { record, story: null, overheadMs: null };
  const { rule, lane, steps, before, waits, overhead_ms, degraded } = story;
  return { record, story: toJson({ rule, lane, steps, before, waits, degraded }), overheadMs: overhead_ms };
}

/** What `finished` was made from; null for a story that there is none of, or that is torn. */
export function detailOf({ record, story, overheadMs }: QueuedRequest): RequestDetailView {
  const changed = fromJson<Omit<RequestStoryView, 'overhead_ms'> | null>(story, null);
  return { ...record, story: changed && { ...changed, overhead_ms: overheadMs } };
}

/** A request as a batch holds it; requests are numbered in the order in which they were written. */
export interface StoredRequest extends QueuedRequest {
  readonly seq: number;
}

/** Requests of one batch at most: its transaction stops the event loop, and who reads one of them reads them all. */
export const MAX_BATCH = 250;
/** Requests that one removal takes at most, to a batch: each stops the event loop for a moment. */
const MAX_REMOVED_PER_STEP = 2_000;

/** The order of a request's values in the file, behind them the story and its time; what is new some day goes to the end. */
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

/** Written out: a loop over names costs more than all else that is done for a row. */
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
];

/** A request in the file: which of its values differ from those of the request before it, a bit for each, and those that do. */
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
  const known = Array.from({ length: FIELDS.length + 2 }, (_, at) => before[at] ?? null);
  return known.map((value, at) => ((bits >> at) & 1 ? (changed[next++] ?? null) : value));
}

/** What follows one another is much the same: a quarter of the bytes is left, and of the pages that are written. */
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
  const record = Object.fromEntries(FIELDS.map((field, at) => [field, values[at]]));
  const [story, overheadMs] = values.slice(FIELDS.length) as [string | null, number | null];
  return { record: record as unknown as RequestRecord, story, overheadMs };
}

interface Row {
  readonly last_seq: number;
  /** How many. */
  readonly requests: number;
  readonly records: string;
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What a batch holds, oldest first; nothing where its text is torn. */
function requestsOf({ last_seq, requests, records }: Row): StoredRequest[] {
  const rows = listIn(fromJson<unknown>(records, null));
  let values: readonly unknown[] = [];
  return rows.map((row, at) => {
    values = unpack(listIn(row), values);
    return { seq: last_seq - requests + 1 + at, ...finishedOf(values) };
  });
}

/** Between which ids those of a batch lie, and when the last of its requests began. */
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
 * Finished requests in the file, a row for each batch that was written at once: of busy seconds a row for each request would cost
 * three times the CPU, most of it in bindings and two trees. They leave batch by batch, the oldest first. Everything here throws what
 * SQLite throws.
 */
export class RequestBatches {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: Db) {
    this.#sql = statements(db);
  }

  /** Writes them as one batch; at least one, at most `BATCH`. */
  add(all: readonly QueuedRequest[]): void {
    const { first, last, at } = rangeOf(all);
    this.#sql.insert.run(all.length, all.length, first, last, at, textOf(all));
  }

  /** The number of the newest request; 0 when there is none. */
  newest(): number {
    return this.#sql.newest.get() ?? 0;
  }

  /** At most `most` requests whose numbers lie between both, newest first. */
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

  /** Removes batches all of whose requests are older than the newest `rows`, some at once; true when any went. */
  keep(rows: number): boolean {
    return this.#sql.prune.run(rows).changes > 0;
  }

  /** Removes, of the oldest, batches all of whose requests began before `since` (ISO text, UTC); true when any went. */
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
    // The first bound is what the tree is asked for, the second is the exact one.
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
    // Batches stand in the order in which their requests ended: looking at the oldest ones is enough, and bounded.
    expire: db.prepare<[string]>(`DELETE FROM request_batches WHERE last_seq <= ${oldest} AND at < ?`),
  };
}
