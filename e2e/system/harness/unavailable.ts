/** Thrown when this machine or its network lacks something that a suite needs. The message is the reason for the skip. */
export class Unavailable extends Error {}

/**
 * Resolves to what `prepare` returns, or to null after a console line that starts with `SKIPPED, ` when it throws
 * `Unavailable`. Other errors are rethrown: a wrong hash must fail the run.
 */
export async function availableOrSkip<T>(
  suite: string,
  prepare: () => Promise<T>,
  warn: (line: string) => void = console.warn,
): Promise<T | null> {
  try {
    return await prepare();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    warn(`SKIPPED, ${suite}: ${error.message}`);
    return null;
  }
}
