import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folders in which the Vulkan loader looks for driver manifests. */
const MANIFEST_FOLDERS = [
  '/etc/vulkan/icd.d',
  '/usr/local/etc/vulkan/icd.d',
  '/usr/local/share/vulkan/icd.d',
  '/usr/share/vulkan/icd.d',
] as const;
/** Variables that replace these folders; the first one that is set counts. */
const MANIFEST_VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES'] as const;
const MAX_MANIFESTS = 32;
const LOADER = 'libvulkan.so.1';
const MISSING_LIBRARY = /^(\S+?): cannot open shared object file/;
/** Debian packages of the libraries that headless machines often lack. */
const PACKAGES: Readonly<Record<string, string>> = {
  [LOADER]: 'libvulkan1',
  'libX11.so.6': 'libx11-6',
  'libXext.so.6': 'libxext6',
  'libGLdispatch.so.0': 'libglvnd0',
  'libEGL.so.1': 'libegl1',
};

/** What the diagnosis reads from the machine. */
export interface BackendSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the file names of a folder; none when it does not exist. */
  list(folder: string): readonly string[];
  /** Returns the text of a file; null when it cannot be read. */
  read(path: string): string | null;
  /** Loads a shared library. Returns the message of the dynamic linker; null when the library was loaded. */
  load(library: string): string | null;
}

/** Returns the library that the dynamic linker did not find; null when the library was loaded or is damaged. */
function missingFrom(message: string | null): string | null {
  return message === null ? null : (MISSING_LIBRARY.exec(message)?.[1] ?? null);
}

const howToInstall = (library: string): string => {
  const name = PACKAGES[library];
  return name === undefined ? '' : ` (Debian: apt install ${name})`;
};

function manifestPaths({ env, list }: BackendSources): string[] {
  const named = MANIFEST_VARIABLES.map((name) => env[name]).find(
    (value) => value !== undefined && value !== '',
  );
  if (named !== undefined) return named.split(':').filter((path) => path !== '');
  return MANIFEST_FOLDERS.flatMap((folder) => list(folder).map((name) => join(folder, name))).filter((path) =>
    path.endsWith('.json'),
  );
}

/** Returns the driver library that a manifest names, as the loader opens it. Null for an unreadable manifest. */
function libraryOf(path: string, text: string | null): string | null {
  try {
    const manifest = JSON.parse(text ?? '') as { ICD?: { library_path?: unknown } };
    const library = manifest.ICD?.library_path;
    if (typeof library !== 'string' || library === '') return null;
    return library.includes('/') && !library.startsWith('/') ? join(dirname(path), library) : library;
  } catch {
    return null;
  }
}

/**
 * Returns why the Vulkan backend of llama.cpp finds no device, with the step that helps: no loader, no driver, or a
 * driver that lacks a library. `GGML_VK_VISIBLE_DEVICES` is the index of the slot's device, if it has one.
 */
export function vulkanDiagnosis(sources: BackendSources): string {
  const loader = missingFrom(sources.load(LOADER));
  if (loader !== null) return `the Vulkan loader ${loader} is not installed${howToInstall(loader)}`;
  const paths = manifestPaths(sources).slice(0, MAX_MANIFESTS);
  const drivers = paths
    .map((path) => libraryOf(path, sources.read(path)))
    .filter((library) => library !== null);
  if (drivers.length === 0) {
    const where = MANIFEST_VARIABLES.find((name) => sources.env[name]) ?? MANIFEST_FOLDERS.join(', ');
    return `no Vulkan driver is registered (${where}); install the driver of the card with Vulkan support`;
  }
  const faults = drivers.map((driver) => ({ driver, missing: missingFrom(sources.load(driver)) }));
  if (faults.every(({ missing }) => missing !== null)) {
    const [{ driver, missing } = { driver: '', missing: '' }] = faults;
    if (missing === driver) return `the Vulkan driver ${driver} is registered, but not installed`;
    return `the Vulkan driver ${driver} needs ${missing}, which is not installed${howToInstall(missing ?? '')}`;
  }
  const index = sources.env.GGML_VK_VISIBLE_DEVICES;
  if (index !== undefined && index !== '') return `there is no Vulkan device with index ${index}`;
  return 'the Vulkan drivers offer no device; vulkaninfo --summary lists what they see';
}

/** Returns why the CUDA backend cannot run: an ordinary installation does not contain its binaries. */
export const cudaDiagnosis = (): string =>
  'the CUDA binaries are not installed or do not fit the driver; add them with npm run cuda (in an installed ' +
  'package: with its program cuda), or use device = "vulkan:0"';

/** The real machine. */
export const machineSources = (): BackendSources => ({
  env: process.env,
  list: (folder) => {
    try {
      return readdirSync(folder).sort();
    } catch {
      return [];
    }
  },
  read: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return null;
    }
  },
  load: (library) => {
    try {
      process.dlopen({ exports: {} }, library);
      return null;
    } catch (error) {
      // Node reports a library that is loaded but is no addon with this message.
      const message = error instanceof Error ? error.message : String(error);
      return message.startsWith('Module did not self-register') ? null : message;
    }
  },
});
