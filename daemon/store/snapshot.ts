import { readFileSync, statSync } from 'node:fs';
import { connect } from './connection.ts';
import { inspect } from './damage.ts';
import { baseCode } from './sqlite-errors.ts';

/** A larger database is not copied into memory. */
const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;

/** The two header bytes that say "write-ahead log"; a database in memory has none. */
function withoutWal(bytes: Buffer): Buffer {
  bytes[18] = 1;
  bytes[19] = 1;
  return bytes;
}

const isEmptyOrAbsent = (file: string): boolean =>
  (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * The content of a database that can be read but not written (read-only folder, full disk), to go on with in memory;
 * null when it is damaged, too large or out of reach.
 */
export function snapshot(file: string): Buffer | null {
  try {
    if (statSync(file).size > MAX_SNAPSHOT_BYTES) return null;
    const found = inspect(file);
    if (found.state === 'sound') {
      const db = connect(file, { readonly: true });
      try {
        return withoutWal(db.serialize());
      } finally {
        db.close();
      }
    }
    // In a read-only folder SQLite cannot make its index of the log; a file whose log is empty is whole by itself, unless
    // somebody is writing it.
    const canRead = found.state === 'unreadable' && baseCode(found.cause) !== 'SQLITE_BUSY';
    if (canRead && isEmptyOrAbsent(`${file}-wal`)) return withoutWal(readFileSync(file));
  } catch {
    // Out of reach: the caller starts empty, with the alarm it raises anyway.
  }
  return null;
}
