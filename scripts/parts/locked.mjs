// Tools from npm, each by a lockfile of its own beside this file: the project's own tree of packages knows nothing of them.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetching, has } from './step.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const MANIFESTS = ['package.json', 'package-lock.json'];

/** Why nothing can be got from npm here, or null. */
export const cannotFetch = () => (has('npm') ? null : 'there is no npm here');

/** The program of a tool that lies in `<cache>/<name>` by the lockfile of today, or null. */
export function lockedProgram(name, program, cache) {
  const [wanted, installed] = [here, cache].map((folder) => join(folder, name, 'package-lock.json'));
  if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(wanted))) return null;
  return join(cache, name, 'node_modules', '.bin', program);
}

/** No script of a package runs; what a tool expects beside it (vitest) is the project's own. */
const CI = ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];

function fetchOne(name, cache) {
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, '.scratch-'));
  try {
    for (const file of MANIFESTS) copyFileSync(join(here, name, file), join(scratch, file));
    fetching(`npm ci for ${name}`, 120, 'npm', CI, { cwd: scratch });
    rmSync(join(cache, name), { recursive: true, force: true });
    renameSync(scratch, join(cache, name));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Gets each part into `<cache>/<name>`, whole or not at all; the reason for each that could not be had, by its name. */
export function fetchParts(parts, cache) {
  const reasons = {};
  for (const { name } of parts) {
    try {
      fetchOne(name, cache);
    } catch (error) {
      reasons[name] = error.message;
    }
  }
  return reasons;
}
