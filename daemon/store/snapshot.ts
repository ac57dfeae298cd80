import { readFileSync, statSync } from 'node:fs';
import { connect } from './connection.ts';
import { inspect } from './integrity.ts';
import { baseCode } from './sqlite-errors.ts';

/** Larger databases are not copied into memory. */
const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;

/** Clears the two header bytes for the write-ahead log, which an in-memory database does not have. */
function withoutWal(bytes: Buffer): Buffer {
  bytes[18] = 1;
  bytes[19] = 1;
  return bytes;
}

const isEmptyOrAbsent = (file: string): boolean =>
  (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * Returns the content of a database that can be read but not written (read-only folder, full disk), for use
 * in memory. Returns null when it is damaged, too large or unreachable.
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
    // In a read-only folder SQLite cannot create the index of the log. A file with an empty log is complete
    // on its own, unless another process is writing it.
    const canRead = found.state === 'unreadable' && baseCode(found.cause) !== 'SQLITE_BUSY';
    if (canRead && isEmptyOrAbsent(`${file}-wal`)) return withoutWal(readFileSync(file));
  } catch {
    // Unreachable: the caller starts empty and raises the alarm in any case.
  }
  return null;
}
