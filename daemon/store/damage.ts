import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { connect } from './connection.ts';
import { schemaVersion } from './migrations.ts';
import { baseCode, describeError, isDamage } from './sqlite-errors.ts';

/** What a look at the file without writing tells. `unreadable`: its surroundings forbid the look, the content is unknown. */
export type Inspection =
  | { readonly state: 'absent' }
  | { readonly state: 'sound'; readonly version: number }
  | { readonly state: 'damaged'; readonly reason: string }
  | { readonly state: 'unreadable'; readonly cause: unknown };

/** Sets of a damaged database and its logs that are kept, newest first. */
const MAX_DAMAGED_SETS = 5;

function sizeOf(file: string): number | null {
  try {
    return statSync(file).size;
  } catch {
    return null;
  }
}

/**
 * Reads the header, the schema version and the structure of every table, index and search index; writes nothing. What looks
 * damaged is read a second time: SQLite calls a read that failed once the same, and that must not cost the whole content.
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
    // A statement of ours that the file's own schema makes invalid: the schema is not the one that was written.
    if (baseCode(error) === 'SQLITE_ERROR') return { state: 'damaged', reason: 'its tables are unknown' };
    if (isDamage(error)) return { state: 'damaged', reason: describeError(error) };
    return { state: 'unreadable', cause: error };
  }
}

const stamp = (now: number): string => new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');

/** Removes the oldest sets beyond the bound. */
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
 * Renames a damaged database, its log first: a log left behind would be replayed into the fresh database.
 * Answers the new base name.
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
