import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_PATH } from '../lib/process/run-command.ts';

/** Returns the path of an executable program in the first folder of `path` that has it. Null when none does. */
export async function findProgram(name: string, path = DEFAULT_PATH): Promise<string | null> {
  for (const folder of path.split(':')) {
    const place = join(folder, name);
    const runs = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return place;
  }
  return null;
}
