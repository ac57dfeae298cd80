import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createExclusive, FileWriteError } from '../lib/fs/atomic-file.ts';
import { startTicksOf } from '../lib/process/process-identity.ts';
import { SetupError } from '../lib/setup-error.ts';
import { connect, type Db, makePrivate } from './connection.ts';
import { baseCode } from './sqlite-errors.ts';

const NAME = 'gateway.pid';
const LOCK = 'gateway.lock';
/** How long another one who tries at the same time may be in the way (ms). */
const BUSY_MS = 250;
/** Each try meets either a live holder or removes one dead one. */
const MAX_ATTEMPTS = 5;
/** A disk that is full or fails: the gateway serves on such a one, so it starts on it, too. */
const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EIO'];

/** `pid start-ticks`: a number that was given to another process later does not match. */
const claimText = (): string => `${process.pid} ${startTicksOf(process.pid) ?? 0}\n`;

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** The process of a claim while it lives, else null. */
export function holderOf(text: string | null): number | null {
  const match = /^(\d{1,10}) (\d{1,20})\n$/.exec(text ?? '');
  if (!match) return null;
  const pid = Number(match[1]);
  const ticks = startTicksOf(pid);
  return ticks !== null && ticks === Number(match[2]) ? pid : null;
}

/** The process of the gateway that works on a state folder; null when none does. Changes nothing. */
export const stateFolderHolder = (folder: string): number | null => holderOf(read(join(folder, NAME)));

/** Moves a dead claim aside; a claim that was made meanwhile is not lost, since only the dead text is removed. */
function removeStaleClaim(path: string, text: string | null): void {
  if (read(path) !== text) return;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (read(aside) === text) rmSync(aside, { force: true });
    else renameSync(aside, path);
  } catch {
    // Somebody else removed it first.
  }
}

/**
 * Takes the lock that the kernel holds for this process until it has ended, however it ends. It holds across containers, where
 * the processes of claims can't be seen. Null when another one has it; `held` is false where files can't be locked.
 */
function lockFile(folder: string): { isHeld: boolean; free: () => void } | null {
  let db: Db | null = null;
  try {
    const file = join(folder, LOCK);
    makePrivate(file);
    const isHeld = connect(file);
    db = isHeld;
    isHeld.pragma(`busy_timeout = ${BUSY_MS}`);
    // The lock begins an empty database, whose journal in a file would need room on the disk.
    isHeld.pragma('journal_mode = MEMORY');
    isHeld.exec('BEGIN EXCLUSIVE');
    return { isHeld: true, free: () => isHeld.close() };
  } catch (error) {
    db?.close();
    // Where files can't be locked, the claim has to do.
    return baseCode(error) === 'SQLITE_BUSY' ? null : { isHeld: false, free: () => {} };
  }
}

/**
 * Makes this process the only gateway on a state folder, also where others run in containers of their own: a second one would
 * end the engines of the first. The answer gives the folder free; a killed gateway leaves nothing but a claim that the next
 * start sees through. `unclaimed` hears why the claim could not be written while the kernel's lock holds. Throws SetupError.
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

/** Says which process it is: to doctor, to releases that know no other lock, and where files can't be locked. */
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
  throw new SetupError(`${path} can't be taken.`, 'Remove this file and start again.');
}

const notClaimed = (folder: string, error: FileWriteError) =>
  new SetupError(
    `${folder} takes no new file: ${error.message}.`,
    'Make room on its disk, or give the folder to the user of the gateway, and start again.',
    { cause: error },
  );

const inUse = (folder: string, pid: number | null) =>
  new SetupError(
    `Another gateway (${pid === null ? 'in another container' : `process ${pid}`}) works on ${folder}.`,
    'Stop it first, or give this one folders of its own with SVC_HOME.',
  );
