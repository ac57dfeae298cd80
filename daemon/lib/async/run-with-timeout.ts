/** Thrown when the work exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

const SLOT: { work?: (() => unknown) | undefined } = {};
/** Created at first use: svcctl loads this module for every command, but few commands parse such a file. */
let runInVm: ((timeout: number) => unknown) | undefined;

function prepare(): (timeout: number) => unknown {
  const { createContext, Script } = process.getBuiltinModule('node:vm');
  const context = createContext(SLOT);
  const script = new Script('work()');
  return (timeout) => script.runInContext(context, { timeout });
}

/**
 * Runs synchronous `work` and returns its result. Stops it after `limitMs` milliseconds, even in an endless
 * loop, and throws TimeLimitError. Rethrows what `work` throws. Intended for parsers of files that users
 * write.
 */
export function runSyncWithTimeout<T>(work: () => T, limitMs: number): T {
  SLOT.work = work;
  try {
    runInVm ??= prepare();
    return runInVm(limitMs) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TimeLimitError(`took longer than ${limitMs} ms`, { cause: error });
  } finally {
    SLOT.work = undefined;
  }
}
