import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { SetupError } from '../lib/setup-error.ts';

export type Db = Database.Database;

/** Versions before this one can damage a WAL database (the WAL-reset bug). */
export const MIN_SQLITE = '3.51.3';
/** Longest wait for another program's lock while the gateway serves: a wait stops the whole event loop. */
export const BUSY_TIMEOUT_MS = 250;
/** The same while it starts, when nobody waits for an answer yet. */
export const START_BUSY_TIMEOUT_MS = 2_000;
const WAL_TRUNCATE_BYTES = 16 * 1024 * 1024;

/** Whether dotted version `a` is at least `b`. */
export function atLeast(a: string, b: string): boolean {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The version of the SQLite library; throws SetupError when it is one that loses data. */
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

/** Makes an empty file that only its owner can read, and narrows the mode of one that is there. SQLite gives -wal and -shm the same mode. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const { mode } = statSync(file);
    if ((mode & 0o170000) === 0o100000 && (mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

/** A connection with the guards that hold for every use; `file` may be the bytes of a database, kept in memory then. */
export function connect(file: string | Buffer, options: { readonly?: boolean } = {}): Db {
  const db = new Database(file, { readonly: options.readonly ?? false, timeout: START_BUSY_TIMEOUT_MS });
  db.pragma('trusted_schema = OFF');
  db.pragma('foreign_keys = ON');
  db.pragma('cell_size_check = ON');
  return db;
}

/**
 * Write-ahead log, synchronous NORMAL: a committed row is in the system's hands before the call returns, so it
 * survives `kill -9` of this process; a power cut can take the last commits, never the database. Deleted content is overwritten.
 */
export function enterWal(db: Db): void {
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma(`journal_size_limit = ${WAL_TRUNCATE_BYTES}`);
  db.pragma('secure_delete = ON');
}
