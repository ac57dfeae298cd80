import { spawnSync } from 'node:child_process';
import { findProgram } from '../../lib/process/find-program.ts';

const TRIAL_MS = 2_000;
const DEATH_SIGNAL = ['--pdeathsig', 'KILL', '--'];

/**
 * Returns the command line prefix that makes the kernel kill a program when the gateway dies: `setpriv` of
 * util-linux, which then executes the program. Empty where it is missing; an engine that outlives the gateway is
 * then ended at the next start.
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
