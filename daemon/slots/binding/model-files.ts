import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Patience, SilentPlace } from '../../lib/fs/mount-guard.ts';

/** What lies at a path, as far as a slot needs to know. */
export interface ModelFile {
  /** Bytes of a file; 0 of a folder. */
  readonly sizeBytes: number;
}

interface CachedFile {
  readonly file: ModelFile;
  /** When it is looked at again. */
  refreshAt: number;
}

const MAX_AGE_MS = 1_000;

const modelFileOf = (stats: { isFile(): boolean; size: number }): ModelFile => ({
  sizeBytes: stats.isFile() ? stats.size : 0,
});

/** What lies at a path now; null when nothing does. Throws where the disk does not tell. */
export function modelFileAt(path: string): ModelFile | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : modelFileOf(stats);
}

/**
 * What lies at the paths that slot files name. What was there a moment ago is answered from memory and looked at again beside the
 * main thread: a share whose server goes away then holds up nobody.
 */
export class ModelFileCache {
  readonly #cache = new Map<string, CachedFile>();
  readonly #patience: Patience;

  constructor(patience = new Patience()) {
    this.#patience = patience;
  }

  /** What lies at a path, or did a moment ago; null when nothing does. Throws where the disk does not tell. */
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
      this.#store(path, modelFileOf(await this.#patience.ask(dirname(path), () => stat(path))));
    } catch (error) {
      if (error instanceof SilentPlace) this.#store(path, before);
      else this.#cache.delete(path);
    }
  }
}
