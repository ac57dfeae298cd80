import { clip } from './columns.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

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

/** One transfer. It survives restarts of the daemon. Times are Unix milliseconds, sizes are bytes. */
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
  /** The file to register, relative to the repository. Null for a folder. */
  main: string | null;
  /** Why it failed: error code and message. */
  code: string | null;
  error: string | null;
  /** Id of the resulting model. */
  model: string | null;
  licence: string | null;
  created: number;
  updated: number;
}

/** One file of a transfer. */
export interface PullFileRow {
  /** Relative to the repository. */
  path: string;
  size: number;
  sha256: string | null;
  /** Git's hash of the content, if there is no `sha256`. */
  blob: string | null;
  /** Entity tag of the response with its first bytes. */
  etag: string | null;
}

/** Every call except `progress` throws `store.unavailable` when the database fails. */
export interface PullsRepo {
  /** Adds or replaces the row. Retains the newest 200 ended jobs. */
  save(row: PullRow): void;
  /** Adds a job with its files, all or nothing. */
  add(row: PullRow, files: readonly PullFileRow[]): void;
  /** Returns the files of a job, ordered by path. */
  files(id: string): PullFileRow[];
  /** Stores the entity tag of a file. */
  tag(id: string, path: string, etag: string | null): void;
  /** Stores the received bytes. A failure is counted and corrected by the next call. */
  progress(id: string, bytes: number, updated: number): void;
  /** Returns jobs newest first, at most 1,000. */
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
  'main',
  'code',
  'error',
  'model',
  'licence',
  'created',
  'updated',
] as const satisfies readonly (keyof PullRow)[];
const MAX_ENDED = 200;
const MAX_LISTED = 1_000;

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
         ORDER BY updated DESC, id LIMIT -1 OFFSET ${MAX_ENDED})`,
    ),
    progress: db.prepare<[number, number, string]>('UPDATE pulls SET bytes = ?, updated = ? WHERE id = ?'),
    all: db.prepare<[number], PullRow>(
      `SELECT ${names} FROM pulls ORDER BY created DESC, rowid DESC LIMIT ?`,
    ),
    get: db.prepare<[string], PullRow>(`SELECT ${names} FROM pulls WHERE id = ?`),
    remove: db.prepare<[string]>('DELETE FROM pulls WHERE id = ?'),
    addFile: db.prepare<[PullFileRow & { pull: string }]>(
      'INSERT INTO pull_files VALUES (@pull, @path, @size, @sha256, @blob, @etag)',
    ),
    files: db.prepare<[string], PullFileRow>(
      'SELECT path, size, sha256, blob, etag FROM pull_files WHERE pull = ? ORDER BY path',
    ),
    tag: db.prepare<[string | null, string, string]>(
      'UPDATE pull_files SET etag = ? WHERE pull = ? AND path = ?',
    ),
  };
}

export function pullsRepo(db: Db, faults: WriteHealth): PullsRepo {
  const sql = statements(db);
  const save = db.transaction((row: PullRow) => {
    sql.save.run({ ...row, error: clip(row.error) });
    sql.trim.run();
  });
  const add = db.transaction((row: PullRow, files: readonly PullFileRow[]) => {
    save(row);
    for (const file of files) sql.addFile.run({ ...file, pull: row.id });
  });
  return {
    save: (row) => faults.write('pulls', () => save(row)),
    add: (row, files) => faults.write('pulls', () => add(row, files)),
    files: (id) => faults.read('pulls', () => sql.files.all(id)),
    tag: (id, path, etag) => void faults.write('pulls', () => sql.tag.run(etag, id, path)),
    progress(id, bytes, updated) {
      if (!faults.isPaused()) faults.attempt('pulls', () => sql.progress.run(bytes, updated, id));
    },
    all: () => faults.read('pulls', () => sql.all.all(MAX_LISTED)),
    get: (id) => faults.read('pulls', () => sql.get.get(id)) ?? null,
    remove: (id) => faults.write('pulls', () => sql.remove.run(id).changes > 0),
  };
}
