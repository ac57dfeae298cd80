import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The file of a program: an absolute path as it is, a bare name looked up in `path`; null when there is none. */
export function findProgram(name: string, path: string): string | null {
  if (isAbsolute(name)) return isProgram(name) ? name : null;
  const folders = path.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

const TRIAL_MS = 2_000;
const DEATH_SIGNAL = ['--pdeathsig', 'KILL', '--'];

/**
 * What stands before a program so that the kernel kills it when the gateway dies: `setpriv` of util-linux, which
 * becomes the program. Empty where there is none: then an engine that outlives the gateway ends at its next start.
 */
export function dyingWithParent(path: string): readonly string[] {
  const setpriv = findProgram('setpriv', path);
  if (setpriv === null) return [];
  const words = [setpriv, ...DEATH_SIGNAL];
  const trial = spawnSync(setpriv, [...DEATH_SIGNAL, setpriv, '--version'], {
    stdio: 'ignore',
    timeout: TRIAL_MS,
  });
  return trial.status === 0 ? words : [];
}
