import type { Log } from '../../lib/log.ts';
import type { LaunchFor } from '../engines/engine.ts';
import type { QueryEngine } from '../lifecycle/health.ts';
import { ContainerRun } from './container/container-run.ts';
import type { ContainerEngines } from './container/engines.ts';
import { reconcile } from './container/reconcile.ts';
import { ContainerRecords } from './container/record.ts';
import { stateId } from './container/state-id.ts';
import { failedStart, type Runner, type RunningEngine } from './runner.ts';

export interface ContainerRunnerDeps {
  readonly stateFolder: string;
  readonly logFolder: string;
  readonly runFolder: string;
  readonly query: QueryEngine;
  readonly engines: ContainerEngines;
  readonly log: Log;
  /** Returns whether loaded containers keep running when the gateway stops. */
  keepsContainers(): boolean;
}

const NO_FOLDER = 'The state folder is not writable, so containers could not be recognised after a restart.';

/**
 * Creates the runner for images, through the API of Podman or Docker. Containers are published on a loopback port
 * that the container engine chooses, with a separate key, read-only files, no capabilities and no restart
 * policy. They carry labels: the next start of the gateway adopts those that serve the same and ends all others of
 * its own.
 */
export function createContainerRunner(options: ContainerRunnerDeps): Runner {
  const { stateFolder, logFolder, runFolder, query, engines, log } = options;
  const records = new ContainerRecords(runFolder);
  let before: Promise<unknown> = Promise.resolve();
  let isDetaching = false;
  let stateIdCache: string | null = null;
  const state = (): string => {
    stateIdCache ??= stateId(stateFolder);
    return stateIdCache;
  };
  const start = (launch: LaunchFor<'container'>): RunningEngine => {
    try {
      const deps = {
        engines,
        records,
        state: state(),
        logFolder,
        query,
        before,
        isDetaching: () => isDetaching,
      };
      return new ContainerRun(deps, launch);
    } catch (cause) {
      log.error({ err: cause }, 'containers cannot be marked');
      return failedStart(NO_FOLDER);
    }
  };
  return {
    id: 'container',
    start: (launch) => start(launch as LaunchFor<'container'>),
    reconcile: (wanted) => {
      const found = reconcileSafely(() => reconcile({ engines, records, state: state(), log }, wanted), log);
      before = found;
      return found;
    },
    detach: () => {
      isDetaching = options.keepsContainers();
    },
  };
}

async function reconcileSafely(work: () => Promise<Set<string>>, log: Log): Promise<Set<string>> {
  try {
    return await work();
  } catch (cause) {
    log.warn({ err: cause }, 'containers of an earlier run could not be listed');
    return new Set();
  }
}
