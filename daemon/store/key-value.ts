import type { Db } from './connection.ts';
import type { Faults } from './write-health.ts';
import { Backlog } from './write-queue.ts';

/** Small facts under fixed names that the program itself chooses. */
export interface FactsRepo {
  /** From memory; null when unset. Never fails. */
  get(key: string): string | null;
  /** In force at once; a write that fails is tried again in the background. */
  set(key: string, value: string): void;
}

/** Distinct facts whose writes may wait. */
const WAITING = 256;

/** Reads every fact at the start, so that a fact known then stays known whatever happens to the file. */
export function factsRepo(db: Db, faults: Faults): { repo: FactsRepo; backlog: Backlog<[string, string]> } {
  const rows = db.prepare<[], { key: string; value: string }>('SELECT key, value FROM facts').all();
  const known = new Map(rows.map(({ key, value }) => [key, value]));
  const upsert = db.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const write = db.transaction((pairs: readonly [string, string][]) => {
    for (const pair of pairs) upsert.run(...pair);
  });
  const backlog = new Backlog<[string, string]>({
    faults,
    what: 'facts',
    limit: WAITING,
    batch: WAITING,
    write,
  });
  const repo: FactsRepo = {
    get: (key) => known.get(key) ?? null,
    set(key, value) {
      known.set(key, value);
      const waiting = backlog.pending().find(([name]) => name === key);
      if (waiting === undefined) backlog.push([key, value]);
      else waiting[1] = value;
      backlog.flush();
    },
  };
  return { repo, backlog };
}
