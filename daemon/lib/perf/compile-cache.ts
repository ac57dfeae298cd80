import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the environment variable that makes a child Node process use the compile cache of earlier runs.
 * Empty when this process has no cache. The cache halves the start time of such a program and saves the
 * memory of the type stripper.
 */
export function compileCacheEnv(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node creates a version-specific folder inside the one that it was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
