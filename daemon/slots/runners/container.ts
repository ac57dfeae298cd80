import type { Log } from '../../lib/log.ts';
import type { LaunchBy } from '../engines/engine.ts';
import type { AskEngine } from '../lifecycle/health.ts';
import { ContainerRun } from './container/container-run.ts';
import type { EnginePlaces } from './container/engines.ts';
import { reconcile } from './container/reconcile.ts';
import { ContainerRecords } from './container/record.ts';
import { stateMark } from './container/state-id.ts';
import { neverStarted, type Runner, type Running } from './runner.ts';

export interface ContainerRunnerOptions {
  readonly stateFolder: string;
  readonly logFolder: string;
  readonly runFolder: string;
  readonly ask: AskEngine;
  readonly places: EnginePlaces;
  readonly log: Log;
  /** Whether loaded containers run on when the gateway ends. */
  keep(): boolean;
}

const NO_FOLDER = 'The state folder cannot be written, so that a container of ours could not be known again.';

/**
 * Runs images through the engine API of Podman or Docker: published on the loopback address on a port that the engine
 * chooses, with a key of their own, files read-only, without rights and without a restart of their own. Containers
 * carry labels: the next start of the gateway adopts those that serve the same and ends all others of ours.
 */
export function createContainerRunner(options: ContainerRunnerOptions): Runner {
  const { stateFolder, logFolder, runFolder, ask, places, log } = options;
  const records = new ContainerRecords(runFolder);
  let before: Promise<unknown> = Promise.resolve();
  let leaving = false;
  let mark: string | null = null;
  const state = (): string => {
    mark ??= stateMark(stateFolder);
    return mark;
  };
  const start = (launch: LaunchBy<'container'>): Running => {
    try {
      const parts = { places, records, state: state(), logFolder, ask, before, leaving: () => leaving };
      return new ContainerRun(parts, launch);
    } catch (cause) {
      log.error({ err: cause }, 'containers cannot be marked');
      return neverStarted(NO_FOLDER);
    }
  };
  return {
    id: 'container',
    start: (launch) => start(launch as LaunchBy<'container'>),
    reconcile: (wanted) => {
      const found = lookThrough(() => reconcile({ places, records, state: state(), log }, wanted), log);
      before = found;
      return found;
    },
    retire: () => {
      leaving = options.keep();
    },
  };
}

async function lookThrough(work: () => Promise<Set<string>>, log: Log): Promise<Set<string>> {
  try {
    return await work();
  } catch (cause) {
    log.warn({ err: cause }, 'containers of an earlier run could not be looked for');
    return new Set();
  }
}
