import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { embeddedIn } from './package/embedded.ts';

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

/** Data about browsers, which only tools of development read. */
const ALLOWED_IN_TOOLS = ['CC-BY-4.0'];

const root = join(import.meta.dirname, '..');

function packagesIn(lockfile: string): [string, LockedPackage][] {
  const lock = JSON.parse(readFileSync(join(root, lockfile), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(lock.packages).filter(
    ([path, entry]) => path.includes('node_modules/') && entry.link !== true,
  );
}

/** Prints one line per package of a lockfile. Returns the number of licences that need a review. */
function printPackages(lockfile: string, tool: string | null): number {
  let wrong = 0;
  for (const [path, entry] of packagesIn(lockfile)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const licence = entry.license ?? 'unknown';
    const fine = allowed(licence) || (tool !== null && ALLOWED_IN_TOOLS.includes(licence));
    if (!fine) wrong += 1;
    const use = tool ?? (entry.dev ? 'development' : null);
    console.log(
      `${fine ? '   ' : '!! '}${name} ${entry.version ?? ''} ${licence}${use === null ? '' : ` (${use})`}`,
    );
    for (const part of embeddedIn(name))
      console.log(`      with ${part.name} in ${part.inside}: ${part.licence}`);
  }
  return wrong;
}

const tools = globSync('scripts/test-tools/*/package-lock.json', { cwd: root }).sort();
const wrong =
  printPackages('package-lock.json', null) +
  tools.reduce((sum, lockfile) => sum + printPackages(lockfile, `tool ${basename(dirname(lockfile))}`), 0);
console.log(wrong === 0 ? 'licences: all allowed' : `licences: ${wrong} to look at (marked !!)`);
process.exitCode = wrong === 0 ? 0 : 1;
