import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunnerId } from '../engines/how.ts';
import type { AskEngine } from '../health.ts';
import { createAttachRunner } from './attach.ts';
import { createProcessRunner } from './process.ts';
import { neverStarted, type Runner } from './runner.ts';
import { leadsHere } from './self-address.ts';
import { createWorkerRunner } from './worker.ts';

export type Runners = Readonly<Record<RunnerId, Runner>>;

export interface RunnersOptions {
  readonly stateFolder: string;
  /** The Node 24 binary of the workers. */
  readonly nodePath: string;
  /** Stands for the worker program of language models. */
  readonly workerPath: string | undefined;
  /** The gateway's environment, by name. */
  environment(name: string): string | undefined;
  /** Asks a started engine. */
  readonly ask: AskEngine;
  /** The port of the gateway's own listener. */
  listenPort(): number;
}

const program = (name: string): string => fileURLToPath(new URL(`../workers/${name}.ts`, import.meta.url));

/** Where started engines are remembered for the next start of the gateway. */
export const runFolderOf = (stateFolder: string): string => join(stateFolder, 'run');

const absent = (id: RunnerId): Runner => ({
  id,
  start: () => neverStarted(`The runner ${id} is not part of this gateway yet.`),
});

/** THE runners: adding one is a file and a row. */
export function createRunners(options: RunnersOptions): Runners {
  const { stateFolder, nodePath, workerPath, environment, ask } = options;
  const places = { stateFolder, logFolder: join(stateFolder, 'logs'), runFolder: runFolderOf(stateFolder) };
  const programs = { llama: workerPath ?? program('llama-main'), speech: program('speech-main') };
  return {
    worker: createWorkerRunner({ nodePath, programs, environment, ...places }),
    process: createProcessRunner({ ask, environment, ...places }),
    container: absent('container'),
    attach: createAttachRunner({ ask, environment, isSelf: (url) => leadsHere(url, options.listenPort()) }),
  };
}
