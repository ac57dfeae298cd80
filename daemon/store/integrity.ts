import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { connect } from './connection.ts';
import { schemaVersion } from './migrations.ts';
import { baseCode, describeError, isDamage } from './sqlite-errors.ts';

/**
 * The result of a read-only inspection. `unreadable`: the file could not be inspected, so its content is
 * unknown.
 */
export type Inspection =
  | { readonly state: 'absent' }
  | { readonly state: 'sound'; readonly version: number }
  | { readonly state: 'damaged'; readonly reason: string }
  | { readonly state: 'unreadable'; readonly cause: unknown };

/** Number of damaged databases with their logs that are retained, newest first. */
const MAX_DAMAGED_SETS = 5;

function sizeOf(file: string): number | null {
  try {
    return statSync(file).size;
  } catch {
    return null;
  }
}

/**
 * Checks the header, the schema version and the structure of every table, index and search index. Writes
 * nothing. A damaged result is checked a second time: SQLite reports a single failed read as damage, and that
 * must not cost the whole content.
 */
export function inspect(file: string): Inspection {
  const first = inspectOnce(file);
  return first.state === 'damaged' ? inspectOnce(file) : first;
}

function inspectOnce(file: string): Inspection {
  const size = sizeOf(file);
  if (size === null) return { state: 'absent' };
  if (size === 0 && sizeOf(`${file}-wal`) === null) return { state: 'damaged', reason: 'it is empty' };
  try {
    const db = connect(file, { readonly: true });
    try {
      const version = schemaVersion(db);
      const verdict = db.pragma('quick_check(1)', { simple: true });
      return verdict === 'ok' ? { state: 'sound', version } : { state: 'damaged', reason: 'it is damaged' };
    } finally {
      db.close();
    }
  } catch (error) {
    // A statement of this program that is invalid for the file's schema: the schema is not the expected one.
    if (baseCode(error) === 'SQLITE_ERROR') return { state: 'damaged', reason: 'its tables are unknown' };
    if (isDamage(error)) return { state: 'damaged', reason: describeError(error) };
    return { state: 'unreadable', cause: error };
  }
}

const stamp = (now: number): string => new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');

/** Removes the oldest sets above the limit. */
function prune(file: string): void {
  const prefix = `${basename(file)}.damaged-`;
  const sets = readdirSync(dirname(file)).filter(
    (name) => name.startsWith(prefix) && !/-(wal|shm)$/.test(name),
  );
  for (const name of sets.sort().reverse().slice(MAX_DAMAGED_SETS)) {
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(dirname(file), `${name}${suffix}`), { force: true });
  }
}

/**
 * Renames a damaged database, its log first: a remaining log would be replayed into the new database. Returns
 * the new base name.
 */
export function moveAside(file: string, now: number): string {
  let target = `${file}.damaged-${stamp(now)}`;
  for (let n = 2; sizeOf(target) !== null; n++) target = `${file}.damaged-${stamp(now)}.${n}`;
  for (const suffix of ['-wal', '-shm', '']) {
    if (sizeOf(`${file}${suffix}`) !== null) renameSync(`${file}${suffix}`, `${target}${suffix}`);
  }
  prune(file);
  return basename(target);
}
