import { identityOf, isWithin } from './path-state.ts';
import type { ScanResult } from './scan.ts';

/** Tells a model folder that is away (its disk is not mounted, or does not respond) from one whose files were deleted. */
export class FolderIdentities {
  /** Device and inode of each model folder when files were last found in it. */
  readonly #known = new Map<string, string>();
  #away: readonly string[] = [];

  /** Compares the model folders of a scan with the earlier ones. */
  update({ folders, files }: Pick<ScanResult, 'folders' | 'files'>): void {
    const away: string[] = [];
    for (const [folder, states] of folders) {
      const identity = identityOf(states.get(folder) ?? '');
      const known = this.#known.get(folder);
      if (identity === null || (known !== undefined && known !== identity)) away.push(folder);
      // An empty mount point does not replace the identity of its disk.
      const hasFiles = files.some(({ path }) => isWithin(folder, path));
      if (identity !== null && (known === undefined || hasFiles)) this.#known.set(folder, identity);
    }
    this.#away = away;
  }

  /** Returns whether a path is below a model folder that was away at the last scan. */
  isAway(path: string): boolean {
    return this.#away.some((folder) => isWithin(folder, path));
  }
}
