import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { compileCacheEnv } from '../../lib/perf/compile-cache.ts';
import type { LaunchFor } from '../engines/engine.ts';
import type { WorkerSettings } from '../engines/run-spec.ts';
import type { KvCache } from '../kv-cache/kv-cache.ts';
import { EngineLog } from '../lifecycle/engine-log.ts';
import { scrubPaths } from '../lifecycle/failure-reason.ts';
import { removeRunRecord } from '../lifecycle/orphans.ts';
import { SAVE_LIMIT_MS, type WorkerMessage } from '../workers/protocol.ts';
import { notStarted, registerChild, stopChild, watchExit } from './child.ts';
import { parentDeathPrefix } from './program.ts';
import { failedStart, type LoadedEngine, type Runner, type RunningEngine } from './runner.ts';
import { workerEnv } from './worker-env.ts';

const MIB = 1024 ** 2;

export interface WorkerRunnerDeps {
  /** The Node 24 binary. */
  nodePath: string;
  /** The worker programs. */
  programs: Readonly<Record<keyof WorkerSettings, string>>;
  /** Working folder of the engines. */
  stateFolder: string;
  logFolder: string;
  /** Folder of the run records, for the next start of the gateway. */
  runFolder: string;
  /** Returns a variable of the gateway's environment. */
  environment(name: string): string | undefined;
  /** The saved states of conversations; absent for none. */
  readonly kvCache?: Pick<KvCache, 'configFor' | 'restored' | 'interrupted'> | undefined;
  /** Milliseconds that a save may take beyond the grace of a stop; default `SAVE_LIMIT_MS`. */
  readonly saveLimitMs?: number;
}

/**
 * Limits of glibc's allocator (https://man7.org/linux/man-pages/man3/mallopt.3.html). Without them it raises its threshold for
 * mapped blocks with each large block that is freed, and then free memory stays in the process
 * (docs/adr/0084-memory-of-recognisers.md, docs/adr/0085-the-engine-loads-a-model-once.md). A slot file can set others.
 */
const ALLOCATOR: Readonly<Record<keyof WorkerSettings, Readonly<Record<string, string>>>> = {
  llama: { MALLOC_MMAP_THRESHOLD_: String(4 * MIB), MALLOC_TRIM_THRESHOLD_: String(8 * MIB) },
  speech: { MALLOC_MMAP_THRESHOLD_: String(MIB) },
};

/** Starts the worker; `prefix` is the command line before Node. */
function spawnWorker(
  deps: WorkerRunnerDeps,
  launch: LaunchFor<'worker'>,
  { nonce, prefix }: { nonce: string; prefix: readonly string[] },
): ChildProcess {
  const [execPath = deps.nodePath, ...words] = [...prefix, deps.nodePath];
  const { program } = launch.how;
  const own = { ...ALLOCATOR[program], ...launch.env };
  return fork(deps.programs[program], [`slot=${launch.slot}`], {
    execPath,
    execArgv: [...words, '--disable-sigusr1'],
    cwd: deps.stateFolder,
    env: { ...compileCacheEnv(), ...workerEnv((name) => deps.environment(name), own, nonce) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
    detached: true,
  });
}

/** What one worker has reported so far. */
class WorkerStatus {
  readonly key = randomBytes(32).toString('base64url');
  readonly loaded = Promise.withResolvers<LoadedEngine>();
  port = 0;
  fraction: number | null = null;
  isLoaded = false;
  /** It saves its conversations, and has not reported that they are complete. */
  isSaving = false;
  /** The reason that it reported before it ended. */
  knownReason: string | null = null;

  handle(message: WorkerMessage): void {
    if (message.type === 'listening') this.port = message.port;
    else if (message.type === 'progress') this.fraction = message.fraction;
    else if (message.type === 'saving') this.isSaving = true;
    else if (message.type === 'saved') this.isSaving = false;
    else if (message.type === 'failed') this.knownReason = scrubPaths(String(message.reason));
    else if (message.type === 'ready') {
      this.isLoaded = true;
      const { device, context, parallel, threads, gpuLayers, layers: total } = message.info;
      const layers = { placed: gpuLayers, total };
      const origin = `http://127.0.0.1:${this.port}`;
      const headers = { authorization: `Bearer ${this.key}` };
      this.loaded.resolve({ origin, headers, device, context, parallel, threads, layers });
    }
  }
}

/** Only chat workers have conversations. */
function kvCacheOf(deps: WorkerRunnerDeps, { how, modelId }: LaunchFor<'worker'>) {
  if (how.program !== 'llama' || how.settings.kind !== 'chat') return {};
  return { kvCache: deps.kvCache?.configFor(modelId) ?? null };
}

function startWorker(
  deps: WorkerRunnerDeps,
  launch: LaunchFor<'worker'>,
  prefix: readonly string[],
): RunningEngine {
  const nonce = randomBytes(18).toString('base64url');
  const { saveLimitMs = SAVE_LIMIT_MS } = deps;
  const status = new WorkerStatus();
  const log = new EngineLog(deps.logFolder, launch.slot);
  let child: ChildProcess;
  try {
    child = spawnWorker(deps, launch, { nonce, prefix });
  } catch (cause) {
    return failedStart(notStarted(cause));
  }
  const ended = watchExit(child, {
    log,
    knownReason: () => status.knownReason,
    onExit: () => {
      removeRunRecord(deps.runFolder, launch.slot, (line) => log.note(line));
      if (!status.isSaving || child.exitCode === 0) return;
      log.note('ended before its conversations were saved');
      deps.kvCache?.interrupted(launch.slot, launch.modelId);
    },
  });
  child.on('message', (message: WorkerMessage) => {
    status.handle(message);
    if (message.type === 'restored') deps.kvCache?.restored(message.tokens);
  });
  if (child.pid !== undefined) {
    registerChild(deps.runFolder, launch.slot, child.pid, nonce);
    log.note(
      `started ${launch.modelId} (pid ${child.pid}, threads: ${launch.threads}, device: ${launch.device})`,
    );
    const config = { ...launch.how.settings, key: status.key, ...kvCacheOf(deps, launch) };
    child.send({ type: 'start', config }, () => {});
  }
  return {
    pid: child.pid ?? null,
    loaded: status.loaded.promise,
    ended,
    progress: () => status.fraction,
    lines: () => log.lines(),
    linesSince: (time) => log.linesSince(time),
    // A loading worker has no requests to finish, and handles no message until a native call returns.
    stop: (graceMs) =>
      stopChild(child, ended, status.isLoaded ? graceMs : 0, () => (status.isSaving ? saveLimitMs : 0)),
  };
}

/**
 * Creates the runner for the gateway's worker programs: one child process per slot, in its own process group,
 * with an explicit environment, without a shell, and with its output in a bounded log. The key is sent over IPC only. An engine whose
 * gateway dies ends on its own; one in an endless native call is killed by the kernel where `setpriv` exists, and at
 * the latest through its record at the next start.
 */
export function createWorkerRunner(deps: WorkerRunnerDeps): Runner {
  let prefix: readonly string[] | null = null;
  const start = (launch: LaunchFor<'worker'>): RunningEngine => {
    prefix ??= parentDeathPrefix(deps.environment('PATH') ?? '');
    return startWorker(deps, launch, prefix);
  };
  return { id: 'worker', start: (launch) => start(launch as LaunchFor<'worker'>) };
}
