import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The folder with the rules of pronunciation. */
export const ESPEAK_DATA = 'espeak-ng-data';
/** Files without which the library does not start. */
const NEEDED = ['phontab', 'phonindex', 'phondata', 'intonations'];
/** Where packages of distributions put the folder. Debian has it below the folder of the processor. */
const SYSTEM = ['/usr/share', '/usr/local/share', '/usr/local/lib', '/usr/lib', '/usr/lib64'];
const LIBRARIES = '/usr/lib';
/** Folders above a voice that are searched: its own, and those of a voice in sub-folders of a model folder. */
const LEVELS = 5;

/** How to install the rules. The package is the same on Debian, Ubuntu and their relatives. */
export const ESPEAK_DATA_MISSING = `${ESPEAK_DATA} is missing: install the package ${ESPEAK_DATA} (sudo apt install ${ESPEAK_DATA}), or put the folder next to the voice`;

/** Returns why a folder does not contain the rules; null when it does. */
export async function espeakDataFault(folder: string): Promise<string | null> {
  for (const name of NEEDED) {
    const found = await stat(join(folder, name)).catch(() => null);
    if (!found?.isFile() || found.size === 0) return `${ESPEAK_DATA} is not complete: ${name} is missing`;
  }
  return null;
}

async function systemFolders(): Promise<string[]> {
  const libraries = await readdir(LIBRARIES).catch(() => []);
  const ofProcessor = libraries
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(LIBRARIES, name));
  return [...SYSTEM, ...ofProcessor];
}

/**
 * Returns the rules of pronunciation for a voice in `folder`: next to it, in a folder above it, or those of
 * the system. Null when there are none.
 */
export async function findEspeakData(
  folder: string,
  system: readonly string[] | null = null,
): Promise<string | null> {
  const above: string[] = [];
  for (let at = folder; above.length < LEVELS && at !== dirname(at); at = dirname(at)) above.push(at);
  for (const place of [...above, ...(system ?? (await systemFolders()))]) {
    const candidate = join(place, ESPEAK_DATA);
    if ((await espeakDataFault(candidate)) === null) return candidate;
  }
  return null;
}
