import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createExclusive, FileWriteError } from '../lib/fs/atomic-file.ts';
import { claimText, holderOf } from '../lib/process/process-claim.ts';
import { SetupError } from '../lib/setup-error.ts';
import { connect, type Db, makePrivate } from './connection.ts';
import { baseCode } from './sqlite-errors.ts';

const NAME = 'gateway.pid';
const LOCK = 'gateway.lock';
/** How long a concurrent start may hold the lock (ms). */
const BUSY_MS = 250;
/** Each attempt either finds a running holder or removes one stale claim. */
const MAX_ATTEMPTS = 5;
/** Errors of a full or failing disk. The gateway can serve on such a disk, so it also starts on it. */
const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EIO'];

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Returns the pid of the gateway that uses a state folder, or null. Changes nothing. */
export const stateFolderHolder = (folder: string): number | null => holderOf(read(join(folder, NAME)));

/**
 * Removes a stale claim. A claim that was created in the meantime is not lost, because only the stale text is
 * removed.
 */
function removeStaleClaim(path: string, text: string | null): void {
  if (read(path) !== text) return;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (read(aside) === text) rmSync(aside, { force: true });
    else renameSync(aside, path);
  } catch {
    // Another process removed it first.
  }
}

/**
 * Takes a kernel lock that this process holds until it ends in any way. It works across containers, where the
 * processes of claims are not visible. Returns null when another process holds it. `held` is false where
 * files cannot be locked.
 */
function lockFile(folder: string): { isHeld: boolean; free: () => void } | null {
  let db: Db | null = null;
  try {
    const file = join(folder, LOCK);
    makePrivate(file);
    const isHeld = connect(file);
    db = isHeld;
    isHeld.pragma(`busy_timeout = ${BUSY_MS}`);
    // BEGIN EXCLUSIVE on an empty database would need disk space for a journal file.
    isHeld.pragma('journal_mode = MEMORY');
    isHeld.exec('BEGIN EXCLUSIVE');
    return { isHeld: true, free: () => isHeld.close() };
  } catch (error) {
    db?.close();
    // Where files cannot be locked, only the claim is used.
    return baseCode(error) === 'SQLITE_BUSY' ? null : { isHeld: false, free: () => {} };
  }
}

/**
 * Makes this process the only gateway on a state folder, also across containers: a second one would stop the
 * engines of the first. Returns a function that releases the folder. A killed gateway leaves only a claim
 * that the next start recognises as stale. Calls `unclaimed` with the reason when the claim could not be
 * written but the kernel lock is held. Throws SetupError.
 */
export async function lockState(
  folder: string,
  unclaimed: (reason: string) => void = () => {},
): Promise<() => void> {
  const lock = lockFile(folder);
  if (lock === null) throw inUse(folder, stateFolderHolder(folder));
  try {
    const unclaim = await claimState(folder).catch((error: unknown) => {
      if (!(error instanceof FileWriteError)) throw error;
      if (!lock.isHeld || !DISK_ERRORS.includes(error.code ?? '')) throw notClaimed(folder, error);
      unclaimed(error.message);
      return () => {};
    });
    return () => {
      unclaim();
      lock.free();
    };
  } catch (error) {
    lock.free();
    throw error;
  }
}

/**
 * Writes the pid of this process for doctor, for releases that know no other lock, and for folders where
 * files cannot be locked.
 */
async function claimState(folder: string): Promise<() => void> {
  const path = join(folder, NAME);
  const own = claimText();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await createExclusive(path, Buffer.from(own), 0o600)) {
      return () => {
        if (read(path) === own) rmSync(path, { force: true });
      };
    }
    const text = read(path);
    const holder = holderOf(text);
    if (holder !== null && holder !== process.pid) throw inUse(folder, holder);
    removeStaleClaim(path, text);
  }
  throw new SetupError(`${path} cannot be locked.`, 'Remove this file and start again.');
}

const notClaimed = (folder: string, error: FileWriteError) =>
  new SetupError(
    `${folder} is not writable: ${error.message}.`,
    'Free disk space, or make the user of the gateway the owner of the folder, then start again.',
    { cause: error },
  );

const inUse = (folder: string, pid: number | null) =>
  new SetupError(
    `Another gateway (${pid === null ? 'in another container' : `process ${pid}`}) works on ${folder}.`,
    'Stop it first, or set SVC_HOME to use separate folders.',
  );
