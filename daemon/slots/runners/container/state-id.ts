import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'containers.id';
const ID = /^[0-9a-f]{32}$/;

function randomId(folder: string): string {
  const file = join(folder, FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, randomBytes(16).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
  const id = readFileSync(file, 'utf8').trim();
  if (ID.test(id)) return id;
  throw new Error(`${FILE} does not contain an id`);
}

const stateIdOf = (id: string, stateFolder: string): string =>
  createHash('sha256')
    .update(`${id} ${realpathSync(stateFolder)}`)
    .digest('hex')
    .slice(0, 32);

/**
 * Returns the id of a state folder that has one; null for a folder whose gateway never had a container. Writes
 * nothing.
 */
export function existingStateId(stateFolder: string): string | null {
  try {
    const id = readFileSync(join(stateFolder, FILE), 'utf8').trim();
    return ID.test(id) ? stateIdOf(id, stateFolder) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the id by which a gateway recognises its containers. It depends on the state folder and its path, so a
 * copy of the folder, or the same path inside another container, has another id. Creates it if missing. Throws when
 * the folder cannot be written.
 */
export function stateId(stateFolder: string): string {
  return stateIdOf(randomId(stateFolder), stateFolder);
}
