import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where this file may lie below the root: among the sources or in a package, or as it was built in a checkout. */
const ABOVE = ['../../..', '../../..'];

/** The folder of the program: `package.json`, `node_modules` and `dist/dashboard` lie in it. */
export const ROOT: string =
  ABOVE.map((above) => join(import.meta.dirname, above)).find((folder) =>
    existsSync(join(folder, 'package.json')),
  ) ?? join(import.meta.dirname, '../../..');
