import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** Licences that may be combined with Apache-2.0 in what we ship. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** `(MIT OR CC0-1.0)` passes when one side does; `A AND B` when both do. */
function allowed(expression: string): boolean {
  const text = expression.replace(/[()]/g, '');
  if (text.includes(' OR ')) return text.split(' OR ').some(allowed);
  return text.split(' AND ').every((part) => ALLOWED.has(part.trim()));
}

const root = join(import.meta.dirname, '..');

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
let wrong = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.link || !path.includes('node_modules/')) continue;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const licence = entry.license ?? 'unknown';
  const fine = allowed(licence);
  if (!fine) wrong += 1;
  console.log(
    `${fine ? '   ' : '!! '}${name} ${entry.version ?? ''} ${licence}${entry.dev ? ' (development)' : ''}`,
  );
}
console.log(wrong === 0 ? 'licences: all allowed' : `licences: ${wrong} to look at (marked !!)`);
process.exitCode = wrong === 0 ? 0 : 1;
