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

/**
 * Returns the file of a program: an absolute path as it is, a bare name looked up in `path`. Returns null
 * when there is none.
 */
export function findProgram(name: string, path: string): string | null {
  if (isAbsolute(name)) return isProgram(name) ? name : null;
  const folders = path.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}
