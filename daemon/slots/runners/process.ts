import { basename } from 'node:path';
import { findProgram } from '../../lib/process/find-program.ts';
import type { LaunchFor } from '../engines/engine.ts';
import { sharedRun } from '../lifecycle/slot-log.ts';
import { Ports } from './ports.ts';
import { ProcessRun, type ProcessRunDeps } from './process-run.ts';
import { parentDeathPrefix } from './program.ts';
import { failedStart, type Runner, type RunningEngine } from './runner.ts';
import { SharedRuns } from './shared-runs.ts';

export type ProcessRunnerDeps = Omit<ProcessRunDeps, 'ports' | 'prefix'> & {
  /** Returns a free port; default any. */
  freePort?(): Promise<number>;
};

/**
 * Creates the runner for external programs as child processes: in a separate session, with an explicit
 * environment, no shell, output into a bounded log, on a free loopback port. Only the started process itself counts
 * as the engine. It ends with the gateway where `setpriv` exists, otherwise through its record at the next start.
 */
export function createProcessRunner(deps: ProcessRunnerDeps): Runner {
  const path = () => deps.environment('PATH') ?? '';
  const ports = new Ports(deps.freePort);
  const shared = new SharedRuns();
  let runDeps: ProcessRunDeps | null = null;
  const start = (launch: LaunchFor<'process'>): RunningEngine => {
    const { command, install } = launch.how;
    const program = findProgram(command, path());
    if (program === null) {
      return failedStart(`The program ${basename(command)} was not found. ${install}`);
    }
    runDeps ??= { ...deps, ports, prefix: parentDeathPrefix(path()) };
    const made = runDeps;
    const run = (name: string, previousExit: Promise<unknown>) =>
      new ProcessRun(made, { launch, program, name, previousExit });
    const sharing = launch.how.shared;
    if (sharing === null) return run(launch.slot, Promise.resolve());
    return shared.join(launch, sharing, (after) => run(sharedRun(sharing.name), after));
  };
  return { id: 'process', start: (launch) => start(launch as LaunchFor<'process'>) };
}
