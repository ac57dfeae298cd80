import { SetupError } from '../lib/setup-error.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Refuses the start when config.toml cannot be read and no last good values are known: defaults would replace
 * the operator's settings (docs/spec/contract.md#config-errors). With last good values the start continues.
 * Throws SetupError.
 */
export function assertConfigReadable(settings: Pick<Settings, 'fatalConfigError'>): void {
  const problem = settings.fatalConfigError();
  if (problem === null) return;
  const { file, line, message } = problem;
  throw new SetupError(
    `${file}${line === null ? '' : ` line ${line}`} ${message}.`,
    `Correct it, or move the file away to start with the defaults.`,
  );
}
