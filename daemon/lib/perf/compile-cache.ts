import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The variable by which a Node program that the gateway starts finds the compiled code of earlier runs; empty when this
 * process keeps none. It halves the start of such a program and saves it the memory of the type stripper.
 */
export function compileCacheEnv(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node names a folder of its own version inside the one it was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
