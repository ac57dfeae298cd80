import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../lib/fs/root.ts';

/** Packages of node-llama-cpp that carry the binaries of one backend, by platform. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  vulkan: ['linux-x64-vulkan'],
  cuda: ['linux-x64-cuda'],
};

/** Folders in which Node would look for a package of this daemon. */
function packageFolders(): readonly string[] {
  return createRequire(import.meta.url).resolve.paths('node-llama-cpp') ?? [];
}

/**
 * llama.cpp backends of the embedded engine that are installed for this platform; `cpu` always. A stand-in package
 * without binaries does not count.
 */
export function installedBackends(
  folders: readonly string[] = packageFolders(),
  platform = `${process.platform}-${process.arch}`,
): readonly string[] {
  const installed = (name: string) =>
    folders.some((folder) => existsSync(join(folder, '@node-llama-cpp', name, 'bins')));
  const gpu = Object.entries(PACKAGES)
    .filter(([, names]) => names.some((name) => name.startsWith(platform) && installed(name)))
    .map(([backend]) => backend);
  return ['cpu', ...gpu];
}

/** Of a package; beside the folder of the daemon. */
const CUDA = join(ROOT, 'cuda');

/** The command that brings the CUDA binaries to this installation: a package has a program of its own for it. */
export const cudaCommand = (program = CUDA): string =>
  existsSync(program) ? `sudo ${program}` : 'npm run cuda';
