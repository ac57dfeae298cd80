import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Db, makePrivate } from './connection.ts';

/** The whole database as it was, while a migration runs; its presence at a start means that the migration did not finish. */
export const runningBackup = (file: string): string => `${file}.migrating`;
/** The same after success: the last state of the former schema, one generation. */
export const migratedBackup = (file: string): string => `${file}.before-migration`;

/** What SQLite keeps beside a database. */
const SIDE_FILE_SUFFIXES = ['-wal', '-shm', '-journal'];

/** Endings of what a start takes up together with a database of that name: its log, and the copies of a migration that was cut. */
export const ADOPTED_SUFFIXES = [...SIDE_FILE_SUFFIXES, '.migrating', '.copying'];

/** Makes what was written to `path`, a file or a folder, survive a power cut. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Removes what SQLite keeps beside a database that is gone or going: a log of another one would be replayed into the next. */
export function removeSideFiles(file: string): void {
  for (const suffix of SIDE_FILE_SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
}

/** Gives a whole and closed database the name `file`. */
export function installDatabase(whole: string, file: string): void {
  removeSideFiles(file);
  renameSync(whole, file);
  sync(dirname(file));
}

/** Copies the database beside itself before a migration. Complete or absent under its name. */
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

/** After a migration that succeeded. */
export function keepBackup(file: string): void {
  renameSync(runningBackup(file), migratedBackup(file));
  sync(dirname(file));
}

/** Puts the database back as it was before a migration that failed or was killed; answers whether there was one. */
export function restoreBackup(file: string): boolean {
  if (!existsSync(runningBackup(file))) return false;
  installDatabase(runningBackup(file), file);
  return true;
}
