import { createContext, Script } from 'node:vm';

/** Work that was cut off because it took longer than its limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

const SLOT: { work?: (() => unknown) | undefined } = {};
const CONTEXT = createContext(SLOT);
const CALL = new Script('work()');

/**
 * Runs synchronous `work` and answers its result, but stops it after `limitMs` milliseconds, an endless loop too.
 * Throws TimeLimitError then, and whatever `work` throws. For parsers of files that people write by hand.
 */
export function withinTime<T>(work: () => T, limitMs: number): T {
  SLOT.work = work;
  try {
    return CALL.runInContext(CONTEXT, { timeout: limitMs }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TimeLimitError(`took longer than ${limitMs} ms`, { cause: error });
  } finally {
    SLOT.work = undefined;
  }
}
