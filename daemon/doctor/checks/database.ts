import { statSync } from 'node:fs';
import { join } from 'node:path';
import { NEWEST_SCHEMA } from '../../store/copy.ts';
import { inspect } from '../../store/damage.ts';
import { FILE_NAME } from '../../store/open.ts';
import { inWords } from '../../store/sqlite-errors.ts';
import type { DoctorFacts } from '../facts.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

/** A larger one takes too long to look through. */
const MOST_BYTES = 256 << 20;

/** Whether the database is whole and of a schema that this release knows; that of a running gateway is its own affair. */
export function database({ settings, holder }: DoctorFacts): Finding[] {
  if (holder !== null) return [];
  const file = join(settings.folders.state, FILE_NAME);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MOST_BYTES)
    return [ok('database', 'The database is there; it is too large to be looked through.')];
  const found = inspect(file);
  if (found.state === 'absent')
    return [ok('database', 'There is no database yet; the first start makes it.')];
  if (found.state === 'damaged') {
    const fix = 'svcctl restore FILE; without a backup the next start begins a fresh one.';
    return [fail('database', `The database is damaged: ${found.reason}.`, fix)];
  }
  if (found.state === 'unreadable') {
    const fix = `Correct what keeps ${FILE_NAME} from being read, or ask with sudo.`;
    return [warn('database', `The database can't be looked at: ${inWords(found.cause)}.`, fix)];
  }
  if (found.version > NEWEST_SCHEMA) {
    const fix = 'Install the release that wrote it, or restore an older backup.';
    return [fail('database', `The database is of a newer release (schema ${found.version}).`, fix)];
  }
  return [ok('database', `The database is whole (schema ${found.version}).`)];
}
