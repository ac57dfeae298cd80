import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from './cache.ts';
import { runInstaller } from './packages.ts';

const FILES = ['package.json', 'package-lock.json'] as const;
/** The lock file of what npm has installed. */
const INSTALLED = join('node_modules', '.package-lock.json');

/** The part of a lock file that is read. Keys are paths such as `node_modules/zod`. */
export interface LockFile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string; readonly resolved?: string }>>;
}

export interface NpmPackagesOptions {
  /** First part of the name in the cache. */
  readonly name: string;
  /** A folder with `package.json` and a `package-lock.json` in which every package has a version and an integrity hash. */
  readonly folder: string;
  readonly limitMs: number;
  /** Whether to leave out the packages that a program can do without. */
  readonly withoutOptional?: boolean;
}

/** Returns the installed packages that have no hash, or another one than in the lock file. */
export function unlockedPackages(installed: LockFile, lock: LockFile): string[] {
  const isLocked = (path: string, integrity: string | undefined) =>
    integrity !== undefined && lock.packages[path]?.integrity === integrity;
  return Object.entries(installed.packages)
    .filter(([path, { integrity }]) => !isLocked(path, integrity))
    .map(([path]) => path);
}

const readLock = (path: string): LockFile => JSON.parse(readFileSync(path, 'utf8')) as LockFile;

/**
 * Returns a folder whose `node_modules` has exactly the packages of a lock file that suit this machine. npm verifies their
 * hashes and runs no script of theirs. The folder is made once and then found in the cache. Throws `Unavailable` when that
 * cannot be done here, and a plain error for a package that the lock file does not have.
 */
export function npmPackages({
  name,
  folder,
  limitMs,
  withoutOptional = false,
}: NpmPackagesOptions): Promise<string> {
  const texts = FILES.map((file) => readFileSync(join(folder, file), 'utf8'));
  const version = shortHash(...texts, process.platform, process.arch);
  return cachedFolder(`${name}-npm-${version}`, async (scratch) => {
    for (const file of FILES) copyFileSync(join(folder, file), join(scratch, file));
    const cache = join(scratch, 'npm-cache');
    // Not `npm ci`: it refuses a lock file without the optional packages of other machines that a registry lacks.
    const args = [
      'install',
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel',
      'error',
      ...(withoutOptional ? ['--omit=optional'] : []),
    ];
    await runInstaller('npm', [...args, '--cache', cache], { limitMs, cwd: scratch });
    const unlocked = unlockedPackages(
      readLock(join(scratch, INSTALLED)),
      readLock(join(folder, 'package-lock.json')),
    );
    if (unlocked.length > 0) throw new Error(`not in the lock file of ${name}: ${unlocked.join(', ')}`);
    rmSync(cache, { recursive: true, force: true });
  });
}
