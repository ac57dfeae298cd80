import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Db, makePrivate } from './connection.ts';

/** Copy of the whole database during a migration. If it exists at a start, the migration did not finish. */
export const runningBackup = (file: string): string => `${file}.migrating`;
/** The copy after a successful migration: the last state of the former schema, one generation. */
export const migratedBackup = (file: string): string => `${file}.before-migration`;

/** Files that SQLite creates next to a database. */
const SIDE_FILE_SUFFIXES = ['-wal', '-shm', '-journal'];

/**
 * Suffixes of files that a start uses together with a database of that name: its log, and the copies of an
 * interrupted migration.
 */
export const ADOPTED_SUFFIXES = [...SIDE_FILE_SUFFIXES, '.migrating', '.copying'];

/** Flushes `path`, a file or a folder, to the device. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Removes the files that SQLite creates next to a database. Otherwise an old log would be replayed into the
 * next database.
 */
export function removeSideFiles(file: string): void {
  for (const suffix of SIDE_FILE_SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
}

/** Renames a complete and closed database to `file`. */
export function installDatabase(whole: string, file: string): void {
  removeSideFiles(file);
  renameSync(whole, file);
  sync(dirname(file));
}

/** Copies the database before a migration. The copy is complete or absent under its name. */
export function createBackup(db: Db, file: string): void {
  const incomplete = `${file}.copying`;
  rmSync(incomplete, { force: true });
  makePrivate(incomplete);
  try {
    db.prepare('VACUUM INTO ?').run(incomplete);
    sync(incomplete);
    renameSync(incomplete, runningBackup(file));
    sync(dirname(file));
  } catch (error) {
    rmSync(incomplete, { force: true });
    throw error;
  }
}

/** Keeps the copy after a successful migration. */
export function keepBackup(file: string): void {
  renameSync(runningBackup(file), migratedBackup(file));
  sync(dirname(file));
}

/** Restores the database after a migration that failed or was killed. Returns whether there was a copy. */
export function restoreBackup(file: string): boolean {
  if (!existsSync(runningBackup(file))) return false;
  installDatabase(runningBackup(file), file);
  return true;
}
