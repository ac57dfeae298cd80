import Database from 'better-sqlite3';

/** Thrown for a file that is not, or no longer, a database of this program. The remedy is to move it aside. */
export class DamageError extends Error {
  override readonly name = 'DamageError';
}

const DAMAGE = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_FORMAT']);

/**
 * Result code without its extension → description for the operator. Conditions in this list may pass by
 * themselves.
 */
const CONDITIONS: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'it is locked by another program',
  SQLITE_LOCKED: 'it is locked by another program',
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR: 'the disk reports an error',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_CANTOPEN: 'it cannot be opened',
  SQLITE_PERM: 'access to it is denied',
  SQLITE_AUTH: 'access to it is denied',
  SQLITE_NOMEM: 'memory is short',
  SQLITE_PROTOCOL: 'its lock is contended',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_NOTADB: 'it is damaged',
  SQLITE_FORMAT: 'it is damaged',
};

/**
 * Returns the SQLite result code without its extension (`SQLITE_IOERR_WRITE` → `SQLITE_IOERR`), or null for
 * any other error.
 */
export function baseCode(error: unknown): string | null {
  if (!(error instanceof Database.SqliteError)) return null;
  return error.code.split('_').slice(0, 2).join('_');
}

/** Returns whether the file itself is damaged, as opposed to its environment. */
export function isDamage(error: unknown): boolean {
  return error instanceof DamageError || DAMAGE.has(baseCode(error) ?? '');
}

/** Returns whether the same statement may succeed later. False means that the row or the statement is invalid. */
export function isTransient(error: unknown): boolean {
  return (baseCode(error) ?? '') in CONDITIONS;
}

/** Describes the error in one clause without a path: "the disk is full". */
export function describeError(error: unknown): string {
  const known = CONDITIONS[baseCode(error) ?? ''];
  if (known !== undefined) return known;
  if (error instanceof DamageError) return error.message;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' ? `the system answered ${code}` : 'an internal error';
}
