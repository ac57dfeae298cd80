import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../lib/log.ts';
import type { RunnerId } from '../engines/run-spec.ts';
import type { KvCache } from '../kv-cache/kv-cache.ts';
import type { QueryEngine } from '../lifecycle/health.ts';
import { createAttachRunner } from './attach.ts';
import type { ContainerEngines } from './container/engines.ts';
import { createContainerRunner } from './container.ts';
import { createProcessRunner } from './process.ts';
import type { Runner } from './runner.ts';
import { isSelfAddress } from './self-address.ts';
import { createWorkerRunner } from './worker.ts';

export type Runners = Readonly<Record<RunnerId, Runner>>;

export interface RunnersDeps {
  readonly stateFolder: string;
  /** The Node 24 binary for the workers. */
  readonly nodePath: string;
  /** Replaces the worker program of language models. */
  readonly workerPath: string | undefined;
  /** Returns a variable of the gateway's environment. */
  environment(name: string): string | undefined;
  /** Sends requests to a started engine. */
  readonly query: QueryEngine;
  /** The saved states of conversations. */
  readonly kvCache: KvCache | undefined;
  readonly log: Log;
  /** How container engines are reached. */
  readonly containers: ContainerEngines;
  /** Returns whether loaded containers keep running when the gateway stops. */
  keepContainers(): boolean;
  /** Returns the port of the gateway's own listener. */
  listenPort(): number;
}

const program = (name: string): string => fileURLToPath(new URL(`../workers/${name}.ts`, import.meta.url));

/** Returns the folder of the run records, for the next start of the gateway. */
export const runFolderOf = (stateFolder: string): string => join(stateFolder, 'run');

/** Creates all runners. To add one, add a file and a row here. */
export function createRunners(deps: RunnersDeps): Runners {
  const { stateFolder, nodePath, workerPath, environment, query, log, kvCache } = deps;
  const folders = { stateFolder, logFolder: join(stateFolder, 'logs'), runFolder: runFolderOf(stateFolder) };
  const programs = { llama: workerPath ?? program('llama-main'), speech: program('speech-main') };
  return {
    worker: createWorkerRunner({ nodePath, programs, environment, kvCache, ...folders }),
    process: createProcessRunner({ query, environment, kvCache, ...folders }),
    container: createContainerRunner({
      ...{ query, log, ...folders },
      engines: deps.containers,
      keepsContainers: () => deps.keepContainers(),
    }),
    attach: createAttachRunner({
      query,
      environment,
      isSelf: (url) => isSelfAddress(url, deps.listenPort()),
    }),
  };
}
