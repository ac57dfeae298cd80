import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { SetupError } from '../lib/setup-error.ts';

export type Db = Database.Database;

/** Earlier versions can damage a WAL database (the WAL-reset bug). */
export const MIN_SQLITE = '3.51.3';
/** Maximum wait for another program's lock while the gateway serves. A wait blocks the event loop. */
export const BUSY_TIMEOUT_MS = 250;
/** Maximum wait during the start, when no client is waiting. */
export const START_BUSY_TIMEOUT_MS = 2_000;
const WAL_TRUNCATE_BYTES = 16 * 1024 * 1024;

/** Returns whether dotted version `a` is at least `b`. */
export function atLeast(a: string, b: string): boolean {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Returns the version of the SQLite library. Throws SetupError for a version that loses data. */
export function assertSqliteVersion(): string {
  const db = new Database(':memory:');
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get());
  db.close();
  if (atLeast(version, MIN_SQLITE)) return version;
  throw new SetupError(
    `SQLite ${version} can damage the database.`,
    `Install the dependencies of this release again; SQLite ${MIN_SQLITE} or newer is needed.`,
  );
}

/**
 * Creates an empty file with mode 0600, or narrows the mode of an existing one. SQLite gives -wal and -shm
 * the same mode.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const { mode } = statSync(file);
    if ((mode & 0o170000) === 0o100000 && (mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

/**
 * Opens a connection with the safety settings for every use. `file` may be the bytes of a database, which
 * then stays in memory.
 */
export function connect(file: string | Buffer, options: { readonly?: boolean } = {}): Db {
  const db = new Database(file, { readonly: options.readonly ?? false, timeout: START_BUSY_TIMEOUT_MS });
  db.pragma('trusted_schema = OFF');
  db.pragma('foreign_keys = ON');
  db.pragma('cell_size_check = ON');
  return db;
}

/**
 * Enables the write-ahead log with synchronous NORMAL: a committed row is in the system's page cache before
 * the call returns, so it survives `kill -9` of this process. A power failure can lose the last commits, but
 * cannot damage the database. Deleted content is overwritten.
 */
export function enterWal(db: Db): void {
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma(`journal_size_limit = ${WAL_TRUNCATE_BYTES}`);
  db.pragma('secure_delete = ON');
}
