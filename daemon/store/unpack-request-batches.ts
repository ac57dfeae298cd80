import type { Statement } from 'better-sqlite3';
import { fromJson } from './columns.ts';
import type { Db } from './connection.ts';

/** The columns that a batch has for each request, in their order. The overhead of the trace follows. */
const COLUMNS = [
  ...['id', 'at', 'route', 'asked', 'model', 'slot', 'upstream', 'step', 'tier', 'state', 'status'],
  ...['duration_ms', 'ttft_ms', 'prompt_tokens', 'completion_tokens', 'error', 'story'],
];
const STORY = COLUMNS.length - 1;

interface Batch {
  readonly last_seq: number;
  readonly requests: number;
  readonly records: string;
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A request in a batch: a bit mask of the values that differ from the previous request, and those values. */
function unpack([mask, ...changed]: readonly unknown[], before: readonly unknown[]): readonly unknown[] {
  let next = 0;
  const bits = typeof mask === 'number' ? mask : 0;
  return Array.from({ length: COLUMNS.length + 1 }, (_, at) =>
    (bits >> at) & 1 ? (changed[next++] ?? null) : (before[at] ?? null),
  );
}

/** Returns the trace with its overhead, which a batch has as a separate value. */
function storyOf(values: readonly unknown[]): string | null {
  const story = fromJson<object | null>(values[STORY] as string | null, null);
  return story && JSON.stringify({ ...story, overhead_ms: values[STORY + 1] });
}

/**
 * Copies the requests of version 5, which stored a row per batch, to the rows of version 6. Skips what is
 * damaged: a value of another type, or a batch that is not JSON.
 */
export function unpackRequestBatches(db: Db): void {
  const insert = db.prepare<unknown[]>(
    `INSERT INTO requests (seq, ${COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(COLUMNS.length)})`,
  );
  const batches = db.prepare<[], Batch>(
    'SELECT last_seq, requests, records FROM request_batches ORDER BY last_seq',
  );
  for (const { last_seq, requests, records } of batches.all()) {
    let values: readonly unknown[] = [];
    for (const [at, packed] of listIn(fromJson<unknown>(records, null)).entries()) {
      values = unpack(listIn(packed), values);
      add(insert, [last_seq - requests + 1 + at, ...values.slice(0, STORY), storyOf(values)]);
    }
  }
}

function add(insert: Statement<unknown[]>, values: readonly unknown[]): void {
  try {
    insert.run(...values.map((value) => (isColumn(value) ? value : null)));
  } catch (error) {
    if (!isConstraint(error)) throw error;
  }
}

const isColumn = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Whether a value is missing or has the wrong type for its column. */
const isConstraint = (error: unknown): boolean =>
  (error as { code?: string }).code?.startsWith('SQLITE_CONSTRAINT') === true;
