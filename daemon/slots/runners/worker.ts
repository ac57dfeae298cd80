import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { compileCacheEnv } from '../../lib/perf/compile-cache.ts';
import type { LaunchBy } from '../engines/engine.ts';
import type { WorkerSettings } from '../engines/run-spec.ts';
import { EngineLog } from '../lifecycle/engine-log.ts';
import { scrubbed } from '../lifecycle/failure-reason.ts';
import { forgetRun } from '../lifecycle/orphans.ts';
import type { WorkerMessage } from '../workers/protocol.ts';
import { notStarted, remember, stopChild, watchEnd } from './child.ts';
import { dyingWithParent } from './program.ts';
import { type Loaded, neverStarted, type Runner, type Running } from './runner.ts';
import { workerEnv } from './worker-env.ts';

export interface WorkerRunnerOptions {
  /** The Node 24 binary. */
  nodePath: string;
  /** The worker programs. */
  programs: Readonly<Record<keyof WorkerSettings, string>>;
  /** Working folder of the engines. */
  stateFolder: string;
  logFolder: string;
  /** Where started engines are remembered for the next start of the gateway. */
  runFolder: string;
  /** The environment that the passed names are looked up in. */
  environment(name: string): string | undefined;
}

/** `before`: the words that stand before Node. */
function spawnWorker(
  options: WorkerRunnerOptions,
  launch: LaunchBy<'worker'>,
  { nonce, before }: { nonce: string; before: readonly string[] },
): ChildProcess {
  const [execPath = options.nodePath, ...words] = [...before, options.nodePath];
  return fork(options.programs[launch.how.program], [`slot=${launch.slot}`], {
    execPath,
    execArgv: [...words, '--disable-sigusr1'],
    cwd: options.stateFolder,
    env: { ...compileCacheEnv(), ...workerEnv((name) => options.environment(name), launch.env, nonce) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
    detached: true,
  });
}

/** What one worker has told so far. */
class Story {
  readonly key = randomBytes(32).toString('base64url');
  readonly loaded = Promise.withResolvers<Loaded>();
  port = 0;
  fraction: number | null = null;
  isLoaded = false;
  /** The reason it gave itself before it ended. */
  lastWords: string | null = null;

  hear(message: WorkerMessage): void {
    if (message.type === 'listening') this.port = message.port;
    else if (message.type === 'progress') this.fraction = message.fraction;
    else if (message.type === 'failed') this.lastWords = scrubbed(String(message.reason));
    else if (message.type === 'ready') {
      this.isLoaded = true;
      const { device, context, parallel, threads, gpuLayers, layers: total } = message.facts;
      const layers = { placed: gpuLayers, total };
      const origin = `http://127.0.0.1:${this.port}`;
      const headers = { authorization: `Bearer ${this.key}` };
      this.loaded.resolve({ origin, headers, device, context, parallel, threads, layers });
    }
  }
}

function startWorker(
  options: WorkerRunnerOptions,
  launch: LaunchBy<'worker'>,
  before: readonly string[],
): Running {
  const nonce = randomBytes(18).toString('base64url');
  const story = new Story();
  const log = new EngineLog(options.logFolder, launch.slot);
  let child: ChildProcess;
  try {
    child = spawnWorker(options, launch, { nonce, before });
  } catch (cause) {
    return neverStarted(notStarted(cause));
  }
  const ended = watchEnd(child, {
    log,
    lastWords: () => story.lastWords,
    done: () => forgetRun(options.runFolder, launch.slot, (line) => log.note(line)),
  });
  child.on('message', (message) => story.hear(message as WorkerMessage));
  if (child.pid !== undefined) {
    remember(options.runFolder, launch.slot, child.pid, nonce);
    log.note(`started ${launch.modelId} (pid ${child.pid}, ${launch.threads} threads, ${launch.device})`);
    child.send({ type: 'start', config: { ...launch.how.settings, key: story.key } }, () => {});
  }
  return {
    pid: child.pid ?? null,
    loaded: story.loaded.promise,
    ended,
    progress: () => story.fraction,
    lines: () => log.lines(),
    // One that still loads has nothing to end, and hears nobody until a native call is over.
    stop: (graceMs) => stopChild(child, ended, story.isLoaded ? graceMs : 0),
  };
}

/**
 * Runs engines as child processes of ours: one per slot, in a process group of its own, with an explicit
 * environment, no shell, output into a bounded log. The key travels over IPC only. An engine whose gateway dies
 * ends by itself, one in a native call that never ends by the kernel's signal where `setpriv` is at hand, and by its
 * record at the next start at the latest.
 */
export function createWorkerRunner(options: WorkerRunnerOptions): Runner {
  let before: readonly string[] | null = null;
  const start = (launch: LaunchBy<'worker'>): Running => {
    before ??= dyingWithParent(options.environment('PATH') ?? '');
    return startWorker(options, launch, before);
  };
  return { id: 'worker', start: (launch) => start(launch as LaunchBy<'worker'>) };
}
