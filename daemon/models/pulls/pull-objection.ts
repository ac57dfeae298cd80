import type { Catalog } from '../catalog-store.ts';
import type { HubRepo } from '../hub/hub.ts';
import type { RemoteHeaders } from '../hub/remote-header.ts';
import { loadObjection } from '../llama-architectures.ts';
import { splitParts } from '../split-files.ts';
import type { Choice } from './choose-files.ts';

/** A smaller model is downloaded as quickly as its header, and checked then. */
const MIN_BYTES = 64 * 1024 * 1024;

export interface ObjectionDeps {
  readonly catalog: Pick<Catalog, 'refusal'>;
  readonly headers: RemoteHeaders;
}

/**
 * Returns a function that says why no engine here can load what was chosen from a repository, by the catalogue and by
 * the header of the file. Null when one can, or when the header cannot be read.
 */
export const pullObjection =
  ({ catalog, headers }: ObjectionDeps) =>
  async (found: HubRepo, { main, files }: Choice, signal: AbortSignal): Promise<string | null> => {
    const listed = catalog.refusal(found.repo);
    if (listed !== null) return listed;
    if (main === null) return null;
    const names = splitParts(main);
    const parts = files.filter(({ path }) => names.includes(path));
    if (parts.reduce((sum, { size }) => sum + size, 0) < MIN_BYTES) return null;
    const metadata = await headers.read(found, parts, signal);
    return metadata === null ? null : loadObjection(metadata);
  };
