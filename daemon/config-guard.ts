import { SetupError } from './kit/setup-error.ts';
import type { Settings } from './settings/settings.ts';

/**
 * A config.toml that can't be read is no reason to stop while its last good values are known. At a start without any,
 * defaults would stand for what the operator wrote, so the start is refused (contract section 1). Throws SetupError.
 */
export function refuseHopelessConfig(settings: Pick<Settings, 'hopeless'>): void {
  const problem = settings.hopeless();
  if (problem === null) return;
  const { file, line, message } = problem;
  throw new SetupError(
    `${file}${line === null ? '' : ` line ${line}`} ${message}.`,
    `Correct it, or move the file away to start with the defaults.`,
  );
}
