import { basename } from 'node:path';
import { findProgram } from '../../lib/process/find-program.ts';
import type { LaunchBy } from '../engines/engine.ts';
import { sharedRun } from '../lifecycle/slot-log.ts';
import { Ports } from './ports.ts';
import { type ProcessParts, ProcessRun } from './process-run.ts';
import { dyingWithParent } from './program.ts';
import { neverStarted, type Runner, type Running } from './runner.ts';
import { SharedRuns } from './shared-runs.ts';

export type ProcessRunnerOptions = Omit<ProcessParts, 'ports' | 'before'> & {
  /** A port on which nobody listens; default any. */
  freePort?(): Promise<number>;
};

/**
 * Runs programs of somebody else as child processes: in a session of their own, with an explicit environment, no shell,
 * output into a bounded log, on a free port of the loopback address. Nobody but the started process itself is taken for
 * the engine. It ends with the gateway where `setpriv` is at hand, by its record at the next start elsewhere.
 */
export function createProcessRunner(options: ProcessRunnerOptions): Runner {
  const path = () => options.environment('PATH') ?? '';
  const ports = new Ports(options.freePort);
  const shared = new SharedRuns();
  let parts: ProcessParts | null = null;
  const start = (launch: LaunchBy<'process'>): Running => {
    const { command, install } = launch.how;
    const program = findProgram(command, path());
    if (program === null) {
      return neverStarted(`The program ${basename(command)} was not found. ${install}`);
    }
    parts ??= { ...options, ports, before: dyingWithParent(path()) };
    const made = parts;
    const run = (name: string, after: Promise<unknown>) =>
      new ProcessRun(made, { launch, program, name, after });
    const sharing = launch.how.shared;
    if (sharing === null) return run(launch.slot, Promise.resolve());
    return shared.join(launch, sharing, (after) => run(sharedRun(sharing.name), after));
  };
  return { id: 'process', start: (launch) => start(launch as LaunchBy<'process'>) };
}
