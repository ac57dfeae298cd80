import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from './cache.ts';
import { runInstaller } from './packages.ts';
import { findPython, type Python } from './python.ts';

const MINUTE = 60_000;
const TOOLS_LOCK = join(import.meta.dirname, 'python-tools.txt');

/** The interpreter of an environment. Start programs with it: `[python, '-m', NAME]`. */
const interpreterOf = (folder: string): string => join(folder, 'bin', 'python');

/** The name of an environment in the cache. A changed lock file, Python version or architecture makes a new one. */
export const environmentName = (name: string, lock: string, { path, version }: Python): string =>
  `${name}-py${version}-${shortHash(lock, path, process.arch)}`;

/** The interpreter of an environment that holds pip and the pinned uv. */
export async function pythonTools(): Promise<string> {
  const python = await findPython();
  const lock = readFileSync(TOOLS_LOCK, 'utf8');
  const folder = await cachedFolder(environmentName('tools', lock, python), async (scratch) => {
    await runInstaller(python.path, ['-m', 'venv', scratch], { limitMs: MINUTE });
    const args = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary', ':all:'];
    await runInstaller(interpreterOf(scratch), [...args, '-r', TOOLS_LOCK], { limitMs: 2 * MINUTE });
  });
  return interpreterOf(folder);
}

export interface EnvironmentOptions {
  /** First part of its name in the cache. */
  readonly name: string;
  /** A lock file in which every package has an exact version and hashes. */
  readonly lock: string;
  readonly limitMs: number;
  /** The oldest Python 3 that suits the packages; default the oldest of the suites. */
  readonly minMinor?: number;
}

/**
 * Returns the interpreter of an environment that holds exactly the packages of a lock file. It is made once and then
 * found in the cache. Throws `Unavailable` when that cannot be done here.
 */
export async function pythonEnvironment({
  name,
  lock,
  limitMs,
  minMinor,
}: EnvironmentOptions): Promise<string> {
  const python = await findPython({ minMinor });
  const tools = await pythonTools();
  const text = readFileSync(lock, 'utf8');
  const folder = await cachedFolder(environmentName(name, text, python), async (scratch) => {
    const cache = join(scratch, 'uv-cache');
    const uv = (...args: string[]) =>
      runInstaller(tools, ['-m', 'uv', '--quiet', '--cache-dir', cache, ...args], { limitMs });
    const target = ['--python', interpreterOf(scratch)];
    await uv('venv', '--relocatable', '--allow-existing', '--python', python.path, scratch);
    await uv(
      'pip',
      'install',
      ...target,
      '--require-hashes',
      '--no-deps',
      '--only-binary',
      ':all:',
      '-r',
      lock,
    );
    rmSync(cache, { recursive: true, force: true });
  });
  return interpreterOf(folder);
}
