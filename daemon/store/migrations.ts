import type { Db } from './connection.ts';
import type { Migration } from './schema.ts';
import { DamageError } from './sqlite-errors.ts';

/** Marks the file as a database of this program ("svcg"). */
export const APPLICATION_ID = 0x73766367;

const LEDGER = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT`;

/** Returns the newest version of `migrations`. */
export function latest(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/**
 * Returns the schema version of a database, 0 for an empty one. The version is stored twice, so that a
 * flipped bit in the header is detected as damage and not as a newer release. Throws DamageError for another
 * program's file or a contradiction.
 */
export function schemaVersion(db: Db): number {
  const marked = Number(db.pragma('user_version', { simple: true }));
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (marked === 0 && tables === 0) return 0;
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new DamageError('it belongs to another program');
  }
  const ledger = db
    .prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'")
    .pluck()
    .get();
  const recorded =
    ledger === 1 ? db.prepare('SELECT max(version) FROM schema_migrations').pluck().get() : null;
  if (recorded !== marked) throw new DamageError('its schema version is contradictory');
  return marked;
}

/**
 * Runs every step above the present version, each in its own transaction, so that each version is complete or
 * absent.
 */
export function migrate(db: Db, migrations: readonly Migration[]): void {
  const from = schemaVersion(db);
  const step = db.transaction((migration: Migration) => {
    db.exec(LEDGER);
    db.exec(migration.sql);
    db.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?)').run(
      migration.version,
      migration.name,
      new Date().toISOString(),
    );
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migration.version}`);
  });
  for (const migration of migrations) if (migration.version > from) step.immediate(migration);
}
