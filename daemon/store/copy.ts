import { existsSync, rmSync } from 'node:fs';
import { connect, makePrivate } from './connection.ts';
import { inspect } from './integrity.ts';
import { latest } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';
import { DamageError } from './sqlite-errors.ts';

/** The newest schema that this release knows. */
export const NEWEST_SCHEMA = latest(MIGRATIONS);

/**
 * After the first hundred pages all others are copied in one step: a concurrent writer would restart each
 * smaller step.
 */
const ALL_PAGES = 2 ** 30;

/**
 * Copies a consistent snapshot of a database with SQLite's backup API, even while a gateway writes it. The
 * copy is verified and readable by its owner only. Returns the schema version, or null when there is no
 * database. Throws DamageError and SQLite errors.
 */
export async function copyDatabase(from: string, to: string): Promise<number | null> {
  if (!existsSync(from)) return null;
  makePrivate(to);
  const db = connect(from, { readonly: true });
  try {
    await db.backup(to, { progress: () => ALL_PAGES });
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    db.close();
  }
  const found = inspect(to);
  if (found.state === 'sound') return found.version;
  rmSync(to, { force: true });
  throw found.state === 'unreadable' ? found.cause : new DamageError('it is damaged');
}

/**
 * Writes the log of a database into its file, so that the file is complete on its own. Returns false when that
 * is impossible.
 */
export function checkpoint(file: string): boolean {
  if (!existsSync(file)) return true;
  try {
    const db = connect(file);
    try {
      db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
    return !existsSync(`${file}-wal`);
  } catch {
    return false;
  }
}
