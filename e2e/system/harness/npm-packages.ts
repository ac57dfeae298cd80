import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from './cache.ts';
import { runInstaller } from './packages.ts';

const FILES = ['package.json', 'package-lock.json'] as const;

export interface NpmPackagesOptions {
  /** First part of the name in the cache. */
  readonly name: string;
  /** A folder with `package.json` and a `package-lock.json` in which every package has a version and an integrity hash. */
  readonly folder: string;
  readonly limitMs: number;
}

/**
 * Returns a folder whose `node_modules` has exactly the packages of a lock file. npm verifies their hashes and runs no
 * script of theirs. The folder is made once and then found in the cache. Throws `Unavailable` when that cannot be done here.
 */
export function npmPackages({ name, folder, limitMs }: NpmPackagesOptions): Promise<string> {
  const texts = FILES.map((file) => readFileSync(join(folder, file), 'utf8'));
  const version = shortHash(...texts, process.platform, process.arch);
  return cachedFolder(`${name}-npm-${version}`, async (scratch) => {
    for (const file of FILES) copyFileSync(join(folder, file), join(scratch, file));
    const cache = join(scratch, 'npm-cache');
    const args = [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel',
      'error',
      '--cache',
      cache,
    ];
    await runInstaller('npm', args, { limitMs, cwd: scratch });
    rmSync(cache, { recursive: true, force: true });
  });
}
