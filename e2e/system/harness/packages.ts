import { ProgramError, type ProgramOptions, runProgram } from './program.ts';
import { Unavailable } from './unavailable.ts';

/** What pip, uv and npm print when a file is not the pinned one. */
const WRONG_HASH = /do not match the hashes|hash mismatch|EINTEGRITY/i;

/**
 * Runs an installer that needs a package registry. Throws `Unavailable` when it fails, because the registry may be
 * absent, and a plain error when a file has another hash than the pinned one.
 */
export async function runInstaller(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<void> {
  try {
    await runProgram(program, args, options);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (WRONG_HASH.test(error.output))
      throw new Error(`a package has another hash than the pinned one:\n${error.output}`);
    throw new Unavailable(`the installation failed (${error.message})`);
  }
}
