import { spawnSync } from 'node:child_process';
import { findProgram } from '../../lib/process/find-program.ts';

const TRIAL_MS = 2_000;
const DEATH_SIGNAL = ['--pdeathsig', 'KILL', '--'];

/**
 * What stands before a program so that the kernel kills it when the gateway dies: `setpriv` of util-linux, which
 * becomes the program. Empty where there is none: then an engine that outlives the gateway ends at its next start.
 */
export function parentDeathPrefix(path: string): readonly string[] {
  const setpriv = findProgram('setpriv', path);
  if (setpriv === null) return [];
  const words = [setpriv, ...DEATH_SIGNAL];
  const trial = spawnSync(setpriv, [...DEATH_SIGNAL, setpriv, '--version'], {
    stdio: 'ignore',
    timeout: TRIAL_MS,
  });
  return trial.status === 0 ? words : [];
}
