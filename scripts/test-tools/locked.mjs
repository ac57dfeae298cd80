// Tools from npm, each with its own lockfile next to this file. They are not part of the project's package
// tree.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetching, has } from './step.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const MANIFESTS = ['package.json', 'package-lock.json'];

/** Returns why npm cannot be used here, or null. */
export const cannotFetch = () => (has('npm') ? null : 'there is no npm here');

/** Returns the program of a tool in `<cache>/<name>` if it matches the current lockfile, or null. */
export function lockedProgram(name, program, cache) {
  const [wanted, installed] = [here, cache].map((folder) => join(folder, name, 'package-lock.json'));
  if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(wanted))) return null;
  return join(cache, name, 'node_modules', '.bin', program);
}

/** No package scripts run. A peer dependency of a tool (vitest) comes from the project. */
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

/**
 * Installs each tool into `<cache>/<name>`, completely or not at all. Returns the reason for each failure, by
 * name.
 */
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
