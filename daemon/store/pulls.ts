import { clip } from './columns.ts';
import type { Db } from './connection.ts';
import type { Faults } from './faults.ts';

export const PULL_STATES = [
  'queued',
  'running',
  'paused',
  'verifying',
  'done',
  'failed',
  'cancelled',
] as const;
export type PullState = (typeof PULL_STATES)[number];

/** One transfer; it outlives the page and the daemon. Times in Unix milliseconds, sizes in bytes. */
export interface PullRow {
  id: string;
  repo: string;
  file: string;
  state: PullState;
  bytes: number;
  total: number | null;
  etag: string | null;
  sha256: string | null;
  revision: string | null;
  error: string | null;
  created: number;
  updated: number;
}

/** Every call throws `store.unavailable` when the database fails, except `progress`. */
export interface PullsRepo {
  /** Adds or replaces the row. Of the ended jobs the newest 200 stay. */
  save(row: PullRow): void;
  /** Notes bytes; a failure is counted and the next note makes it good. */
  progress(id: string, bytes: number, updated: number): void;
  /** Newest first, at most 1,000. */
  all(): PullRow[];
  get(id: string): PullRow | null;
  remove(id: string): boolean;
}

const COLUMNS = [
  'id',
  'repo',
  'file',
  'state',
  'bytes',
  'total',
  'etag',
  'sha256',
  'revision',
  'error',
  'created',
  'updated',
] as const satisfies readonly (keyof PullRow)[];
const KEPT_ENDED = 200;
const LISTED = 1_000;

function statements(db: Db) {
  const names = COLUMNS.join(', ');
  const changed = COLUMNS.slice(1).map((name) => `${name} = excluded.${name}`);
  return {
    save: db.prepare<[PullRow]>(
      `INSERT INTO pulls (${names}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})
       ON CONFLICT (id) DO UPDATE SET ${changed.join(', ')}`,
    ),
    trim: db.prepare(
      `DELETE FROM pulls WHERE id IN (SELECT id FROM pulls WHERE state IN ('done', 'failed', 'cancelled')
         ORDER BY updated DESC, id LIMIT -1 OFFSET ${KEPT_ENDED})`,
    ),
    progress: db.prepare<[number, number, string]>('UPDATE pulls SET bytes = ?, updated = ? WHERE id = ?'),
    all: db.prepare<[number], PullRow>(
      `SELECT ${names} FROM pulls ORDER BY created DESC, rowid DESC LIMIT ?`,
    ),
    get: db.prepare<[string], PullRow>(`SELECT ${names} FROM pulls WHERE id = ?`),
    remove: db.prepare<[string]>('DELETE FROM pulls WHERE id = ?'),
  };
}

export function pullsRepo(db: Db, faults: Faults): PullsRepo {
  const sql = statements(db);
  const save = db.transaction((row: PullRow) => {
    sql.save.run({ ...row, error: clip(row.error) });
    sql.trim.run();
  });
  return {
    save: (row) => faults.write('pulls', () => save(row)),
    progress(id, bytes, updated) {
      if (!faults.holding()) faults.attempt('pulls', () => sql.progress.run(bytes, updated, id));
    },
    all: () => faults.read('pulls', () => sql.all.all(LISTED)),
    get: (id) => faults.read('pulls', () => sql.get.get(id)) ?? null,
    remove: (id) => faults.write('pulls', () => sql.remove.run(id).changes > 0),
  };
}
