import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Extension of the file with the attention state, as llama.cpp writes it. */
const STATE = '.state';
/** Extension of the file that describes a state. It is written last, so a state without it is incomplete. */
const DESCRIPTION = '.json';
const TEMP = /\.(\d+)\.tmp$/;
const MODEL_PREFIX = 'model-';
/** File systems allow 255 bytes. */
const MAX_READABLE_NAME = 200;

/** Limits of all saved states together. */
export interface StateLimits {
  readonly maxBytes: number;
  readonly maxStates: number;
}

/** One saved state of a conversation. */
export interface StateFile {
  /** The folder of its model, in the root folder. */
  readonly folder: string;
  readonly id: string;
  /** Bytes of both files. */
  readonly bytes: number;
  /** Unix milliseconds of its last save or restore. */
  readonly usedAt: number;
}

/** Returns the name of a model's folder. The id is readable in it unless it is very long. */
export function modelFolderName(modelId: string): string {
  const readable = encodeURIComponent(modelId);
  if (readable.length <= MAX_READABLE_NAME) return MODEL_PREFIX + readable;
  return MODEL_PREFIX + createHash('sha256').update(modelId).digest('hex');
}

/** Returns the model id of a folder, or its digest for a very long one. */
export function modelOfFolder(folder: string): string {
  const name = basename(folder).slice(MODEL_PREFIX.length);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns the paths of the two files of a state. */
export const statePaths = (folder: string, id: string): { state: string; description: string } => ({
  state: join(folder, id + STATE),
  description: join(folder, id + DESCRIPTION),
});

/** Returns the path of a file that this process is still writing. */
export const tempPath = (path: string): string => `${path}.${process.pid}.tmp`;

/**
 * Creates a folder for its owner only. Returns false when it cannot be created, and for a name that is not a private
 * folder of this user, because others may create names in a shared memory folder.
 */
export function ensurePrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  return isPrivateFolder(folder);
}

/** Returns whether this is a folder, not a link, that only this user can open. */
export function isPrivateFolder(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0;
}

/** Returns the folders of all models. */
export const modelFolders = (root: string): string[] =>
  namesIn(root)
    .filter((name) => name.startsWith(MODEL_PREFIX))
    .map((name) => join(root, name));

/** Returns all complete states, in order of their last use, oldest first. */
export const listStates = (root: string): StateFile[] =>
  modelFolders(root)
    .flatMap((folder) => statesIn(folder))
    .sort((a, b) => a.usedAt - b.usedAt);

/** Returns the complete states of one model. */
export function statesIn(folder: string): StateFile[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(DESCRIPTION))
    .flatMap((name) => {
      const id = name.slice(0, -DESCRIPTION.length);
      const paths = statePaths(folder, id);
      const [state, description] = [paths.state, paths.description].map((path) =>
        statSync(path, { throwIfNoEntry: false }),
      );
      if (state === undefined || description === undefined) return [];
      return [{ folder, id, bytes: state.size + description.size, usedAt: description.mtimeMs }];
    });
}

/** Deletes a state. Its description goes first, so that no process finds half of it. */
export function deleteState(folder: string, id: string): void {
  const { state, description } = statePaths(folder, id);
  for (const path of [description, state]) rmSync(path, { force: true });
}

/** Marks a state as used now. */
export function touchState(folder: string, id: string): void {
  const now = new Date();
  try {
    utimesSync(statePaths(folder, id).description, now, now);
  } catch {
    // Another process has deleted it.
  }
}

/** Deletes states, oldest first, until `extraBytes` more and one more state fit the limits. */
export function makeSpace(root: string, limits: StateLimits, extraBytes: number): void {
  const states = listStates(root);
  let bytes = states.reduce((sum, state) => sum + state.bytes, 0);
  let count = states.length;
  for (const { folder, id, bytes: size } of states) {
    if (bytes + extraBytes <= limits.maxBytes && count < limits.maxStates) return;
    deleteState(folder, id);
    bytes -= size;
    count--;
  }
}

/** Deletes what interrupted saves left: files of processes that have ended, and states without a description. */
export function sweepIncomplete(folder: string): void {
  const names = namesIn(folder);
  const described = new Set(names.filter((name) => name.endsWith(DESCRIPTION)));
  for (const name of names) {
    if (described.has(name)) continue;
    const pid = TEMP.exec(name)?.[1];
    if (pid !== undefined && isRunning(Number(pid))) continue;
    if (name.endsWith(STATE)) {
      if (described.has(name.slice(0, -STATE.length) + DESCRIPTION)) continue;
      if (isRecent(join(folder, name))) continue;
    }
    rmSync(join(folder, name), { force: true, recursive: true });
  }
}

/** A state whose description another process may be about to write. */
const RECENT_MS = 60_000;
const isRecent = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < RECENT_MS;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
