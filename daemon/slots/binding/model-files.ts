import { readdirSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DiskTimeout, MountGuard } from '../../lib/fs/mount-guard.ts';

/** The properties of a model file or folder that a slot needs. */
export interface ModelFile {
  /** Size of a file, or of the weights in a folder, in bytes. */
  readonly sizeBytes: number;
}

interface CachedFile {
  readonly file: ModelFile;
  /** When it is read again. */
  refreshAt: number;
}

const MAX_AGE_MS = 1_000;

/** Maximum number of files of weights that are read in one folder. */
const MAX_FILES = 4096;
/** Files of weights. Of several formats in one folder an engine reads the first one. */
const WEIGHT_FORMATS = [/\.safetensors$/i, /\.(gguf|onnx)$/i, /\.(bin|pt|pth)$/i, /\.(ckpt|h5|msgpack)$/i];
/** Files beside weights: a copy of them in another layout, and no weights at all. */
const NO_WEIGHTS = /^(consolidated|training_args|optimizer|scheduler|rng_state|\.)/i;

/** Returns the names of the files of weights in a folder with these names. */
export function weightFiles(names: readonly string[]): string[] {
  for (const format of WEIGHT_FORMATS) {
    const files = names.filter((name) => format.test(name));
    const own = files.filter((name) => !NO_WEIGHTS.test(name));
    if (files.length > 0) return (own.length > 0 ? own : files).slice(0, MAX_FILES);
  }
  return [];
}

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

/** Returns the file at a path now; null when there is none. Throws when the disk returns an error. */
export function modelFileAt(path: string): ModelFile | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isDirectory()) return { sizeBytes: stats.isFile() ? stats.size : 0 };
  const sizeAt = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0;
  return { sizeBytes: sumOf(weightFiles(readdirSync(path)).map(sizeAt)) };
}

/** Returns the file at a path without blocking. Rejects when there is none. */
async function readModelFile(path: string): Promise<ModelFile> {
  const stats = await stat(path);
  if (!stats.isDirectory()) return { sizeBytes: stats.isFile() ? stats.size : 0 };
  const sizeAt = (name: string) => stat(join(path, name)).then(({ size }) => size);
  return { sizeBytes: sumOf(await Promise.all(weightFiles(await readdir(path)).map(sizeAt))) };
}

/**
 * Caches the files at the paths that slot files name. A known file is returned from the cache and read again
 * asynchronously, so that an unreachable network share does not block the main thread.
 */
export class ModelFileCache {
  readonly #cache = new Map<string, CachedFile>();
  readonly #mountGuard: MountGuard;

  constructor(mountGuard = new MountGuard()) {
    this.#mountGuard = mountGuard;
  }

  /**
   * Returns the file at a path, possibly from the cache; null when there is none. Throws when the disk returns an
   * error.
   */
  at(path: string): ModelFile | null {
    const cached = this.#cache.get(path);
    if (cached === undefined) return this.#read(path);
    if (performance.now() >= cached.refreshAt) {
      cached.refreshAt = Number.POSITIVE_INFINITY;
      void this.#refresh(path, cached.file);
    }
    return cached.file;
  }

  #read(path: string): ModelFile | null {
    const file = modelFileAt(path);
    if (file !== null) this.#store(path, file);
    return file;
  }

  #store(path: string, file: ModelFile): void {
    this.#cache.set(path, { file, refreshAt: performance.now() + MAX_AGE_MS });
  }

  async #refresh(path: string, before: ModelFile): Promise<void> {
    try {
      this.#store(path, await this.#mountGuard.run(dirname(path), () => readModelFile(path)));
    } catch (error) {
      if (error instanceof DiskTimeout) this.#store(path, before);
      else this.#cache.delete(path);
    }
  }
}
