import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../lib/fs/atomic-file.ts';
import { syncFolder } from '../lib/fs/temp-file.ts';
import { SetupError } from '../lib/setup-error.ts';

const MARKER = 'restore.unfinished';
const BACKUP_FOLDER = /^before-restore-[0-9TZ]{1,32}$/;

/** Returns the folder for the replaced files of an incomplete restore, or null. */
export function incompleteRestore(state: string): string | null {
  try {
    const name = readFileSync(join(state, MARKER), 'utf8').trim();
    return BACKUP_FOLDER.test(name) ? name : null;
  } catch {
    return null;
  }
}

/** Writes the marker: files are being replaced from now on. */
export async function beginRestore(state: string, backupFolder: string): Promise<void> {
  await replaceFile(join(state, MARKER), Buffer.from(`${backupFolder}\n`), { mode: 0o600 });
}

export async function endRestore(state: string): Promise<void> {
  rmSync(join(state, MARKER), { force: true });
  await syncFolder(state);
}

/** Throws SetupError after an interrupted restore: the gateway must not start with a mixed configuration. */
export function assertRestoreComplete(state: string): void {
  if (!existsSync(join(state, MARKER))) return;
  throw new SetupError(
    'A restore was started here and did not finish.',
    'Run svcctl restore with the same file again. The replaced files are still in the state folder.',
  );
}
