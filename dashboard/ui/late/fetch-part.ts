import type { Served } from '../../api/served.ts';

/** Waits before the second try and the next ones, in milliseconds. */
const WAITS_MS: readonly number[] = [300, 1000, 2500];

/** A part of the dashboard that did not come, although it was asked for several times. */
export class MissingPart extends Error {
  readonly served: Served;

  constructor(served: Served, cause: unknown) {
    super('A part of the dashboard could not be fetched.', { cause });
    this.name = 'MissingPart';
    this.served = served;
  }
}

/** Whether an import failed on its way, in the words of Chromium, Firefox, Safari and Vite; not by its own code. */
export const isUnfetched = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export interface Ways {
  pause: (ms: number) => Promise<void>;
  askServed: () => Promise<Served>;
  /** Leaves the page for a new one, if that may be; answers whether it does. */
  leave: (served: Served) => boolean;
}

/**
 * Fetches a part and tries again for some seconds: browsers end requests when the network changes. Some remember a
 * failed import for as long as the page lives, and after an update the old parts are gone; so the last way is a new
 * page, for which the answer is waited for without end. Throws MissingPart when there is none, and what the part itself
 * throws at once.
 */
export async function fetchPart<T>(
  load: () => Promise<T>,
  ways: Partial<Ways> & Pick<Ways, 'askServed' | 'leave'>,
) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await load();
    } catch (error) {
      if (!isUnfetched(error)) throw error;
      const wait = WAITS_MS[tries];
      if (wait === undefined) {
        const served = await ways.askServed();
        if (ways.leave(served)) return new Promise<never>(() => {});
        throw new MissingPart(served, error);
      }
      await (ways.pause ?? pause)(wait);
    }
  }
}
