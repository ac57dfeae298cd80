import { fromJson } from './columns.ts';
import type { Db } from './connection.ts';

/** Order of the values of a request in a batch. Earlier versions wrote only the first 18. */
const FIELDS = [
  ...['id', 'at', 'route', 'asked', 'model', 'slot', 'upstream', 'step', 'tier', 'state', 'status'],
  ...['duration_ms', 'ttft_ms', 'prompt_tokens', 'completion_tokens', 'error', 'story', 'overhead_ms'],
  ...['message', 'reason', 'app', 'user_agent', 'address'],
];

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the values of a request: those that its bit mask names, the others as in the request before. */
function unpacked([mask, ...changed]: readonly unknown[], before: readonly unknown[]): readonly unknown[] {
  const bits = typeof mask === 'number' ? mask : 0;
  let next = 0;
  return FIELDS.map((_, at) => ((bits >> at) & 1 ? (changed[next++] ?? null) : (before[at] ?? null)));
}

/**
 * Copies the requests of schema version 5, where a row held a batch of requests as differences, into one row each.
 * Skips damaged ones: the log is no ledger.
 */
export function unpackBatches(db: Db): void {
  const insert = db.prepare<unknown[]>(
    `INSERT OR IGNORE INTO requests (${FIELDS.join(', ')}) VALUES (${FIELDS.map(() => '?').join(', ')})`,
  );
  const batches = db.prepare<[], string>('SELECT records FROM request_batches ORDER BY last_seq').pluck();
  for (const records of batches.all()) {
    let values: readonly unknown[] = [];
    for (const row of listIn(fromJson<unknown>(records, null))) {
      values = unpacked(listIn(row), values);
      // Constraints refuse a damaged row.
      try {
        insert.run(...values);
      } catch {}
    }
  }
}
