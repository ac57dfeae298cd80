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
  /** Makes this process the only one on the state folder; the answer gives it free. Rejects while a gateway runs. */
  lock(): Promise<() => void>;
  now?: Date;
  /** Called before each change, for tests that die there. */
  step?: (what: string) => void;
}

export interface RestoreReport {
  file: string;
  /** When and by which release it was made. */
  made_at: string;
  version: string;
  files: string[];
  keys: boolean;
  /** The folder that keeps what was replaced. */
  kept: string;
}

const STAGING = 'restore.staging';
const BACKUP_PREFIX = 'before-restore-';
/** Earlier states that stay. */
const MAX_BACKUPS = 3;

const refused = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('restore.invalid', { message: `The archive ${message}; nothing has changed.`, cause });

const openArchive = (file: string): Promise<FileHandle> =>
  open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw refused(`cannot be opened (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`, cause);
  });

/** Removes what a restore that is done needs no more; what stays is removed by the next one. */
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

/** An error of this machine before anything was changed. */
function notStarted(cause: unknown): unknown {
  if (cause instanceof GatewayError || cause instanceof SetupError) return cause;
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
  const reason = cause instanceof FileWriteError ? cause.message : code;
  return new GatewayError('restore.failed', {
    message: `The restore could not start (${reason}); nothing has changed.`,
    cause,
  });
}

/** From here on a failure may leave some files old and some new; each is whole, and the same call again ends it. */
async function change(plan: CommitPlan): Promise<void> {
  try {
    await commit(plan);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown error';
    throw new GatewayError('restore.failed', {
      message: `The restore did not finish (${reason}); the replaced files are kept in ${plan.backupFolder}.`,
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
 * Puts configuration and database back as a backup holds them. Refuses while a gateway runs; the whole archive is checked
 * before anything is touched; slot and upstream files that it does not hold go, keys stay unless it holds some; what is
 * replaced is kept in the state folder. All browser sessions end. Throws GatewayError `restore.*` and SetupError.
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
