import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SetupError } from '../lib/setup-error.ts';
import {
  createBackup,
  installDatabase,
  keepBackup,
  removeSideFiles,
  restoreBackup,
  runningBackup,
} from './backup.ts';
import {
  assertSqliteVersion,
  BUSY_TIMEOUT_MS,
  connect,
  type Db,
  enterWal,
  makePrivate,
} from './connection.ts';
import { inspect, moveAside } from './integrity.ts';
import { latest, migrate, schemaVersion } from './migrations.ts';
import { MIGRATIONS, type Migration } from './schema.ts';
import { snapshot } from './snapshot.ts';
import { baseCode, DamageError, describeError, isDamage } from './sqlite-errors.ts';

export const FILE_NAME = 'svc.db';

export interface OpenOptions<T> {
  folder: string;
  /** Prepares the statements. A schema that does not match them counts as damage. */
  build: (db: Db) => T;
  migrations?: readonly Migration[];
  /** Unix milliseconds; default the clock. */
  now?: () => number;
}

export interface Opened<T> {
  readonly db: Db;
  readonly built: T;
  readonly file: string;
  /** `memory`: the file is unusable and nothing survives a restart. */
  readonly location: 'file' | 'memory';
  /** The content of an earlier run is not available, so for example revoked sessions are unknown. */
  readonly isContentLost: boolean;
  /** Message for the operator when something was wrong, otherwise null. Contains no path. */
  readonly alarm: string | null;
  readonly sqlite: string;
  readonly version: number;
}

type Plan<T> = Required<OpenOptions<T>> & { file: string };

function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new SetupError(
    `The database has schema ${version}; this release knows schemas up to ${known}.`,
    'Start the release that wrote it, or restore a backup that this release made (svcctl restore).',
  );
}

/** Upgrades the schema. A non-empty database is copied first. */
function upgrade(db: Db, file: string, migrations: readonly Migration[]): void {
  const version = schemaVersion(db);
  refuseNewer(version, latest(migrations));
  if (version === latest(migrations)) return;
  if (version === 0) {
    migrate(db, migrations);
    return;
  }
  createBackup(db, file);
  migrate(db, migrations);
  keepBackup(file);
}

function prepare<T>(db: Db, build: (db: Db) => T): T {
  try {
    return build(db);
  } catch (error) {
    if (baseCode(error) === 'SQLITE_ERROR') throw new DamageError('its tables are not those of this release');
    throw error;
  }
}

/**
 * Creates an empty database under a temporary name and renames it: an interrupted start leaves no file that
 * looks damaged.
 */
function create(file: string, migrations: readonly Migration[]): void {
  const incomplete = `${file}.making`;
  const clear = () => {
    rmSync(incomplete, { force: true });
    removeSideFiles(incomplete);
  };
  clear();
  try {
    makePrivate(incomplete);
    const db = connect(incomplete);
    try {
      migrate(db, migrations);
    } finally {
      db.close();
    }
    installDatabase(incomplete, file);
  } catch (error) {
    clear();
    throw error;
  }
}

function openFile<T>(plan: Plan<T>): { db: Db; built: T } {
  if (!existsSync(plan.file)) create(plan.file, plan.migrations);
  makePrivate(plan.file);
  const db = connect(plan.file);
  try {
    refuseNewer(schemaVersion(db), latest(plan.migrations));
    enterWal(db);
    upgrade(db, plan.file, plan.migrations);
    const built = prepare(db, plan.build);
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return { db, built };
  } catch (error) {
    db.close();
    restoreBackup(plan.file);
    throw error;
  }
}

/** Recovers from a killed migration: restores the copy, unless the copy itself is damaged. */
function recover<T>({ file, migrations, now }: Plan<T>): void {
  const backup = inspect(runningBackup(file));
  if (backup.state === 'damaged') moveAside(runningBackup(file), now());
  if (backup.state !== 'sound') return;
  refuseNewer(backup.version, latest(migrations));
  restoreBackup(file);
}

type DatabaseResult<T> = Pick<Opened<T>, 'db' | 'built' | 'alarm' | 'isContentLost'>;

/** Moves the damaged file aside and creates a new one. */
function startFresh<T>(plan: Plan<T>, reason: string): DatabaseResult<T> {
  const name = moveAside(plan.file, plan.now());
  const alarm = `The database could not be used (${reason}); it was renamed to ${name} and a new database was created. Restore a backup to recover the old content.`;
  return { ...openFile(plan), alarm, isContentLost: true };
}

function openOnDisk<T>(plan: Plan<T>): DatabaseResult<T> {
  mkdirSync(plan.folder, { recursive: true, mode: 0o700 });
  recover(plan);
  const found = inspect(plan.file);
  if (found.state === 'damaged') return startFresh(plan, found.reason);
  if (found.state === 'unreadable' && baseCode(found.cause) === 'SQLITE_BUSY') throw found.cause;
  if (found.state === 'sound') refuseNewer(found.version, latest(plan.migrations));
  try {
    return { ...openWithRetry(plan), alarm: null, isContentLost: false };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return startFresh(plan, describeError(error));
  }
}

/** Opens the file, and retries once when it seems damaged: SQLite reports a single failed read as damage. */
function openWithRetry<T>(plan: Plan<T>): { db: Db; built: T } {
  try {
    return openFile(plan);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return openFile(plan);
  }
}

function openMemory<T>(plan: Plan<T>, content: Buffer | string): { db: Db; built: T } {
  const db = connect(content);
  migrate(db, plan.migrations);
  return { db, built: plan.build(db) };
}

/** The last resort: the readable content of the file, otherwise an empty database, in memory. */
function openInMemory<T>(plan: Plan<T>, cause: unknown): DatabaseResult<T> {
  const begin = `The database cannot be used (${describeError(cause)}): nothing is saved across restarts.`;
  const advice = `Free or repair ${basename(plan.file)} in the state folder and restart.`;
  const content = snapshot(plan.file);
  if (content !== null) {
    try {
      const alarm = `${begin} Its content was read into memory. ${advice}`;
      return { ...openMemory(plan, content), alarm, isContentLost: false };
    } catch {
      // The content does not match the schema. Use an empty database.
    }
  }
  return { ...openMemory(plan, ':memory:'), alarm: `${begin} ${advice}`, isContentLost: true };
}

/**
 * Opens the database of `folder`. A damaged file is moved aside and a new one created. If even that is
 * impossible, the database is in memory, so that authentication and inference continue. Throws SetupError
 * only for an unsafe SQLite library and for a file of a newer release, which is not written.
 */
export function openDatabase<T>(options: OpenOptions<T>): Opened<T> {
  const plan: Plan<T> = {
    migrations: MIGRATIONS,
    now: Date.now,
    ...options,
    file: join(options.folder, FILE_NAME),
  };
  const common = { file: plan.file, sqlite: assertSqliteVersion(), version: latest(plan.migrations) };
  try {
    return { ...common, ...openOnDisk(plan), location: 'file' };
  } catch (error) {
    if (error instanceof SetupError) throw error;
    return { ...common, ...openInMemory(plan, error), location: 'memory' };
  }
}
