/** Work that was cut off because it took longer than its limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

const SLOT: { work?: (() => unknown) | undefined } = {};
/** Made when it is first needed: svcctl reads this in with each command, and few of them parse such a file. */
let runInVm: ((timeout: number) => unknown) | undefined;

function prepare(): (timeout: number) => unknown {
  const { createContext, Script } = process.getBuiltinModule('node:vm');
  const context = createContext(SLOT);
  const script = new Script('work()');
  return (timeout) => script.runInContext(context, { timeout });
}

/**
 * Runs synchronous `work` and answers its result, but stops it after `limitMs` milliseconds, an endless loop too.
 * Throws TimeLimitError then, and whatever `work` throws. For parsers of files that people write by hand.
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
