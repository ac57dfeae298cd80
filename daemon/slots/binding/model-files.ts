import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DiskTimeout, MountGuard } from '../../lib/fs/mount-guard.ts';

/** The properties of a model file or folder that a slot needs. */
export interface ModelFile {
  /** Size of a file in bytes; 0 for a folder. */
  readonly sizeBytes: number;
}

interface CachedFile {
  readonly file: ModelFile;
  /** When it is read again. */
  refreshAt: number;
}

const MAX_AGE_MS = 1_000;

const modelFileOf = (stats: { isFile(): boolean; size: number }): ModelFile => ({
  sizeBytes: stats.isFile() ? stats.size : 0,
});

/** Returns the file at a path now; null when there is none. Throws when the disk returns an error. */
export function modelFileAt(path: string): ModelFile | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : modelFileOf(stats);
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
      this.#store(path, modelFileOf(await this.#mountGuard.run(dirname(path), () => stat(path))));
    } catch (error) {
      if (error instanceof DiskTimeout) this.#store(path, before);
      else this.#cache.delete(path);
    }
  }
}
