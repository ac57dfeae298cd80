import { existsSync, rmSync } from 'node:fs';
import { connect, makePrivate } from './connection.ts';
import { inspect } from './damage.ts';
import { latest } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';
import { DamageError } from './sqlite-errors.ts';

/** The newest schema that this release knows. */
export const NEWEST_SCHEMA = latest(MIGRATIONS);

/** After the first hundred pages all others in one step: a writer beside it would begin each smaller step anew. */
const ALL_PAGES = 2 ** 30;

/**
 * Copies a database as it is at one moment, also while a gateway writes it, by SQLite's own backup; the copy is checked and for
 * its owner only. Answers the version of its schema, or null when there is no database. Throws DamageError and what SQLite throws.
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

/** Writes what waits in the log of a database into its file, so that the file is whole by itself. False when it can't be. */
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
