import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { SetupError } from '../lib/setup-error.ts';

/** Absolute paths. Both folders exist, and the state folder is writable. */
export interface Folders {
  config: string;
  state: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the configuration and state folders (docs/spec/contract.md#folders): `$SVC_HOME/config` and
 * `/state`, otherwise the folders that systemd names, otherwise the XDG folders, otherwise those below HOME.
 * Throws SetupError when nothing names a folder.
 */
export function folderPaths(env: Env): Folders {
  const home = set(env.SVC_HOME);
  if (home !== null) return { config: resolve(home, 'config'), state: resolve(home, 'state') };
  return {
    config: first(env.CONFIGURATION_DIRECTORY) ?? userFolder(env, 'XDG_CONFIG_HOME', '.config'),
    state: first(env.STATE_DIRECTORY) ?? userFolder(env, 'XDG_STATE_HOME', join('.local', 'state')),
  };
}

/**
 * Who opens the folders. The gateway must own them. A command may be run by the wrong user although the
 * folders are correct.
 */
export type Opener = 'gateway' | 'command';

/**
 * Creates missing folders with mode 0700. Throws SetupError when one cannot be used. The gateway accepts a
 * read-only configuration folder (docs/spec/contract.md#read-only-config).
 */
export function openFolders(env: Env, opener: Opener = 'gateway'): Folders {
  const folders = folderPaths(env);
  open('configuration', folders.config, opener, opener === 'gateway' ? READABLE : WRITABLE);
  open('state', folders.state, opener);
  return folders;
}

/** Whether this process may create files in a folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, WRITABLE);
    return true;
  } catch {
    return false;
  }
}

/** Returns the folders for a read-only command. Creates none, and accepts missing ones. Throws SetupError. */
export function existingFolders(env: Env): Folders {
  const folders = folderPaths(env);
  if (existsSync(folders.config)) open('configuration', folders.config, 'command');
  if (existsSync(folders.state)) open('state', folders.state, 'command');
  return folders;
}

const set = (value: string | undefined): string | null =>
  value === undefined || value.trim() === '' ? null : value;

/** systemd separates several folders with a colon. The first one is used. */
function first(list: string | undefined): string | null {
  const entry = set(list?.split(':')[0]);
  return entry !== null && isAbsolute(entry) ? entry : null;
}

/** The XDG specification requires that relative paths are ignored. */
function userFolder(env: Env, name: string, below: string): string {
  const base = set(env[name]);
  if (base !== null && isAbsolute(base)) return join(base, 'svc');
  const home = set(env.HOME);
  if (home !== null && isAbsolute(home)) return join(home, below, 'svc');
  throw new SetupError('no folder for configuration and state', 'set SVC_HOME to a folder, or HOME');
}

const READABLE = constants.R_OK | constants.X_OK;
const WRITABLE = READABLE | constants.W_OK;

function open(what: string, path: string, opener: Opener, mode = WRITABLE): void {
  try {
    create(path);
    if (!statSync(path).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
    accessSync(path, mode);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const act = mode === READABLE ? 'used' : 'written';
    throw new SetupError(`the ${what} folder ${path} cannot be ${act} (${code})`, advice(path, opener), {
      cause: error,
    });
  }
}

/**
 * Creates parent folders one by one: Node's recursive mkdir never ends where the system refuses new names
 * with ENOENT (/proc).
 */
function create(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) create(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns whether the path belongs to another user, including one that cannot be read. */
function belongsToOther(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.uid !== process.geteuid?.();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

function advice(path: string, opener: Opener): string {
  if (opener === 'command' && belongsToOther(path)) return 'use sudo, or run the command as the service user';
  const user = process.getuid?.() ?? '';
  return `make it a folder that user ${user} may write: mkdir -p ${path} && chown ${user} ${path}; or set SVC_HOME to another folder`;
}
