import { LRUCache } from 'lru-cache';
import type { Registry } from '../models/registry.ts';
import type { Settings } from '../settings/settings.ts';
import { type FolderView, readFolders } from './read-folders.ts';
import type { StoredSetupState } from './stored-state.ts';
import { refused } from './wanted-models.ts';

export interface OtherToolsDeps {
  readonly state: StoredSetupState;
  readonly settings: Settings;
  readonly registry: Pick<Registry, 'scan'>;
  /** Runs a change of the configuration and names its failure. */
  write<T>(change: () => Promise<T>): Promise<T>;
}

/** How long a scan is cached (ms). */
const CACHE_MS = 5 * 60_000;
const MAX_OLLAMA_FOLDERS = 16;

/** Finds models of other programs and makes them available. */
export class OtherTools {
  readonly #options: OtherToolsDeps;
  readonly #cache = new LRUCache<string, FolderView[]>({ max: 1, ttl: CACHE_MS });

  constructor(options: OtherToolsDeps) {
    this.#options = options;
  }

  /** Clears the cached scan. */
  forget(): void {
    this.#cache.clear();
  }

  async folders(): Promise<FolderView[]> {
    const { settings, state } = this.#options;
    const used = [...settings.value('modelFolders'), ...state.state.ollama];
    const key = used.join('\n');
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const folders = await readFolders({
      home: settings.environment('HOME') ?? null,
      variable: (name) => settings.environment(name),
      used: () => used,
    });
    this.#cache.set(key, folders);
    return folders;
  }

  /**
   * Returns the found folders of these paths: a request cannot name other folders. Throws `request.invalid`.
   */
  async requireFound(paths: readonly string[]): Promise<FolderView[]> {
    const folders = await this.folders();
    return paths.map((path, index) => {
      const folder = folders.find((one) => one.path === path);
      if (folder === undefined || !['readable', 'used'].includes(folder.state))
        throw refused(`folders.${index}`, 'is not a readable folder of another program');
      return folder;
    });
  }

  /** Adds these folders to the model folders. Models of Ollama are linked by the scan. */
  async use(folders: readonly FolderView[]): Promise<void> {
    const { settings, registry, state: setupState, write } = this.#options;
    const fresh = folders.filter(({ state }) => state === 'readable');
    const pathsOf = (ollama: boolean) =>
      fresh.filter(({ tool }) => (tool === 'Ollama') === ollama).map(({ path }) => path);
    const plain = pathsOf(false);
    if (plain.length > 0) {
      const all = [...new Set([...settings.value('modelFolders'), ...plain])];
      await write(() => settings.persist('modelFolders', all));
    }
    if (pathsOf(true).length > 0)
      setupState.change({
        ollama: [...new Set([...setupState.state.ollama, ...pathsOf(true)])].slice(0, MAX_OLLAMA_FOLDERS),
      });
    await registry.scan();
  }
}
