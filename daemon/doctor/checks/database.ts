import { statSync } from 'node:fs';
import { join } from 'node:path';
import { NEWEST_SCHEMA } from '../../store/copy.ts';
import { inspect } from '../../store/integrity.ts';
import { FILE_NAME } from '../../store/open.ts';
import { describeError } from '../../store/sqlite-errors.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { areFilesDenied, isDenied } from './files-denied.ts';

/** A larger database takes too long to check. */
const MAX_BYTES = 256 << 20;

/** Returns the size, 0 when it does not exist, or null without permission. */
function sizeOf(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  } catch (error) {
    if (isDenied(error)) return null;
    throw error;
  }
}

/** Without access to the files, check `configuration` already reports it. */
function unreadable(input: DoctorInput, reason: string): Finding[] {
  if (areFilesDenied(input)) return [];
  const fix = `Fix the permissions of ${FILE_NAME}, or run svcctl doctor with sudo.`;
  return [warn('database', `The database can't be checked: ${reason}.`, fix)];
}

/**
 * Checks that the database is intact and has a supported schema. The database of a running gateway is not
 * checked.
 */
export function database(input: DoctorInput): Finding[] {
  if (input.holder !== null) return [];
  const file = join(input.settings.folders.state, FILE_NAME);
  const size = sizeOf(file);
  if (size === null) return unreadable(input, 'no permission');
  if (size > MAX_BYTES) return [ok('database', 'The database exists; it is too large to check.')];
  const found = inspect(file);
  if (found.state === 'absent')
    return [ok('database', 'There is no database yet; the first start creates it.')];
  if (found.state === 'damaged') {
    const fix = 'svcctl restore FILE; without a backup the next start creates a new one.';
    return [fail('database', `The database is damaged: ${found.reason}.`, fix)];
  }
  if (found.state === 'unreadable') {
    return unreadable(input, describeError(found.cause));
  }
  if (found.version > NEWEST_SCHEMA) {
    const fix = 'Install the release that wrote it, or restore an older backup.';
    return [fail('database', `The database was written by a newer release (schema ${found.version}).`, fix)];
  }
  return [ok('database', `The database is intact (schema ${found.version}).`)];
}
