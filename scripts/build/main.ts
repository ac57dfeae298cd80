/** Builds the daemon: `main.ts [FOLDER [NAME=PROGRAM …]]`, into `dist/daemon` on its own. */
import { join } from 'node:path';
import { buildDaemon, sweep } from './daemon.ts';

const root = join(import.meta.dirname, '..', '..');
const [out = join(root, 'dist', 'daemon'), ...more] = process.argv.slice(2);
const named = more.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
await buildDaemon(root, out, Object.fromEntries(named));
sweep(out);
