import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where the root can be, seen from this file: built in a package, a source, and built in a checkout. */
const ABOVE = ['../..', '../../..', '../../../..'];

/** The folder of the installation. It holds `package.json`, `node_modules` and `dist/dashboard`. */
export const ROOT: string =
  ABOVE.map((above) => join(import.meta.dirname, above)).find((folder) =>
    existsSync(join(folder, 'package.json')),
  ) ?? join(import.meta.dirname, '../../..');
