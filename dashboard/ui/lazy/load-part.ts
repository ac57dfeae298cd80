import type { ServedVersion } from '../../api/dashboard-version.ts';

/** Delays before each retry in milliseconds. */
const WAITS_MS: readonly number[] = [300, 1000, 2500];

/** A lazily loaded part that could not be loaded after all retries. */
export class MissingPart extends Error {
  readonly served: ServedVersion;

  constructor(served: ServedVersion, cause: unknown) {
    super('A part of the dashboard could not be loaded.', { cause });
    this.name = 'MissingPart';
    this.served = served;
  }
}

/** Whether an import failed on the network, judged by the messages of Chromium, Firefox, Safari and Vite. */
export const isNetworkFailure = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export interface LoadPartDeps {
  pause: (ms: number) => Promise<void>;
  fetchServedVersion: () => Promise<ServedVersion>;
  /** Reloads the page if allowed. Returns whether it does. */
  reloadPage: (served: ServedVersion) => boolean;
}

/**
 * Loads a part and retries for some seconds, because browsers abort requests when the network changes. Some browsers cache
 * a failed import for the life of the page, and an update removes old parts; so the last resort is a reload, during which
 * the promise never settles. Throws MissingPart without a reload, and errors of the part itself immediately.
 */
export async function loadPart<T>(
  load: () => Promise<T>,
  deps: Partial<LoadPartDeps> & Pick<LoadPartDeps, 'fetchServedVersion' | 'reloadPage'>,
) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await load();
    } catch (error) {
      if (!isNetworkFailure(error)) throw error;
      const wait = WAITS_MS[tries];
      if (wait === undefined) {
        const served = await deps.fetchServedVersion();
        if (deps.reloadPage(served)) return new Promise<never>(() => {});
        throw new MissingPart(served, error);
      }
      await (deps.pause ?? pause)(wait);
    }
  }
}
