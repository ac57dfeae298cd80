import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';
import { WriteQueue } from './write-queue.ts';

/** A key-value table with fixed keys that the program chooses. */
export interface KeyValueRepo {
  /** Reads from memory. Null when unset. Never fails. */
  get(key: string): string | null;
  /** Takes effect at once. A failed write is retried in the background. */
  set(key: string, value: string): void;
}

/** Maximum number of keys with a pending write. */
const MAX_QUEUED = 256;

/** Reads all rows at the start, so that their values stay available whatever happens to the file. */
export function keyValueRepo(
  db: Db,
  faults: WriteHealth,
): { repo: KeyValueRepo; backlog: WriteQueue<[string, string]> } {
  const rows = db.prepare<[], { key: string; value: string }>('SELECT key, value FROM facts').all();
  const known = new Map(rows.map(({ key, value }) => [key, value]));
  const upsert = db.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const write = db.transaction((pairs: readonly [string, string][]) => {
    for (const pair of pairs) upsert.run(...pair);
  });
  const backlog = new WriteQueue<[string, string]>({
    faults,
    what: 'facts',
    limit: MAX_QUEUED,
    batch: MAX_QUEUED,
    write,
  });
  const repo: KeyValueRepo = {
    get: (key) => known.get(key) ?? null,
    set(key, value) {
      known.set(key, value);
      const queued = backlog.pending().find(([name]) => name === key);
      if (queued === undefined) backlog.push([key, value]);
      else queued[1] = value;
      backlog.flush();
    },
  };
  return { repo, backlog };
}
