import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../lib/fs/root.ts';

/** Packages of node-llama-cpp with the binaries of one backend, by platform. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  vulkan: ['linux-x64-vulkan'],
  cuda: ['linux-x64-cuda'],
};

/** Folders in which Node searches the packages of this daemon. */
function packageFolders(): readonly string[] {
  return createRequire(import.meta.url).resolve.paths('node-llama-cpp') ?? [];
}

/**
 * Returns the installed llama.cpp backends of the embedded engine for this platform, always including `cpu`.
 * A placeholder package without binaries does not count.
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

/** The installer in a packaged installation, next to the daemon's folder. */
const CUDA = join(ROOT, 'cuda');

/** Returns the command that installs the CUDA binaries. A packaged installation has its own program for it. */
export const cudaCommand = (program = CUDA): string =>
  existsSync(program) ? `sudo ${program}` : 'npm run cuda';
