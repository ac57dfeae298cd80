import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { runAsOwnerOf } from '../lib/fs/as-owner.ts';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import { SetupError } from '../lib/setup-error.ts';
import type { Folders } from '../settings/folders.ts';
import { type CommitPlan, checkTargets, commit } from './commit.ts';
import { incompleteRestore } from './incomplete-restore.ts';
import { unpack } from './unpack.ts';

export interface RestoreOptions {
  folders: Folders;
  file: string;
  /** Locks the state folder for this process and returns the release function. Rejects while a gateway runs. */
  lock(): Promise<() => void>;
  now?: Date;
  /** Called before each change, so that tests can stop there. */
  step?: (what: string) => void;
}

export interface RestoreReport {
  file: string;
  /** Time and release of the backup. */
  made_at: string;
  version: string;
  files: string[];
  keys: boolean;
  /** The folder that keeps what was replaced. */
  kept: string;
}

const STAGING = 'restore.staging';
const BACKUP_PREFIX = 'before-restore-';
/** Maximum number of earlier states that are kept. */
const MAX_BACKUPS = 3;

const refused = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('restore.invalid', { message: `The archive ${message}; nothing has changed.`, cause });

const openArchive = (file: string): Promise<FileHandle> =>
  open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw refused(`cannot be opened (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`, cause);
  });

/** Removes leftovers of a completed restore. What cannot be removed is left to the next restore. */
async function removeLeftovers(state: string, now: string): Promise<void> {
  await rm(join(state, STAGING), { recursive: true, force: true });
  const names = (await readdir(state))
    .filter((name) => name.startsWith(BACKUP_PREFIX) && name !== now)
    .sort();
  for (const name of names.slice(0, Math.max(0, names.length - MAX_BACKUPS + 1))) {
    await rm(join(state, name), { recursive: true, force: true });
  }
}

const stamp = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, '');

/** Converts an error of this machine that occurred before any change. */
function notStarted(cause: unknown): unknown {
  if (cause instanceof GatewayError || cause instanceof SetupError) return cause;
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
  const reason = cause instanceof FileWriteError ? cause.message : code;
  return new GatewayError('restore.failed', {
    message: `The restore could not start (${reason}); nothing has changed.`,
    cause,
  });
}

/**
 * A failure from here on may leave some files old and some new. Each is complete, and the same call again
 * finishes the restore.
 */
async function change(plan: CommitPlan): Promise<void> {
  try {
    await commit(plan);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown error';
    throw new GatewayError('restore.failed', {
      message: `The restore did not finish (${reason}); the replaced files are in ${plan.backupFolder}.`,
      cause,
    });
  }
}

async function restoreAsOwner(options: RestoreOptions, archive: FileHandle): Promise<RestoreReport> {
  const { folders, file, step } = options;
  const { state } = folders;
  const unlock = await options.lock();
  try {
    const staged = join(state, STAGING);
    const manifest = await unpack(archive, staged);
    const backupFolder = incompleteRestore(state) ?? `${BACKUP_PREFIX}${stamp(options.now ?? new Date())}`;
    const files = manifest.files.map(({ name }) => name);
    const plan = {
      folders,
      staged,
      members: new Set(files),
      backupFolder,
      ...(step === undefined ? {} : { step }),
    };
    await checkTargets(plan);
    await change(plan);
    await removeLeftovers(state, backupFolder).catch(() => {});
    const { made_at, version, keys } = manifest;
    return { file, made_at, version, files, keys, kept: join(state, backupFolder) };
  } finally {
    unlock();
  }
}

/**
 * Restores configuration and database from a backup. Refuses while a gateway runs. Checks the whole archive
 * before any change. Deletes slot and upstream files that it does not contain. Keeps the keys unless it
 * contains some. Keeps the replaced files in the state folder. Ends all browser sessions. Throws GatewayError
 * `restore.*` and SetupError.
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const archive = await openArchive(options.file);
  try {
    if (!(await archive.stat()).isFile()) throw refused('is not a regular file');
    return await runAsOwnerOf(options.folders.state, () => restoreAsOwner(options, archive));
  } catch (error) {
    throw notStarted(error);
  } finally {
    await archive.close().catch(() => {});
  }
}
