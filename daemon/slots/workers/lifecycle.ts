import { openServer, type Routes, type WorkerServer } from './http-server.ts';
import {
  DRAIN_MS,
  FORCE_EXIT_MS,
  SAVE_LIMIT_MS,
  WORKER_EXIT,
  type WorkerHealth,
  type WorkerInfo,
  type WorkerMessage,
} from './protocol.ts';

/** A loaded engine, as its process manages it. */
export interface LoadedService {
  info: WorkerInfo;
  routes: Routes;
  stats(): Omit<WorkerHealth, 'status'>;
  /**
   * Saves what a later start can use. Called once, before `dispose`, when no request is running. `isOrphaned`: the
   * gateway is gone. Never rejects.
   */
  save?(isOrphaned: boolean): Promise<void>;
  dispose(): Promise<void>;
}

/** Callbacks and the signal of a loader. */
export interface LoadWatch {
  /** Aborts when the process ends before the load does. */
  signal: AbortSignal;
  /** Reports a fraction up to 1. */
  onProgress(fraction: number): void;
  /** Reports an error after which the engine cannot continue. May be called at any later time. */
  onBroken(error: unknown): void;
  /** Reports that a request used a saved state. */
  onRestored(restored: { readonly tokens: number; readonly bytes: number }): void;
}

/** The configuration of every worker. */
interface AnyConfig {
  readonly key: string;
}

/** Loads what a worker serves. Throws an Error with a one-line message for users. */
export type LoadService<C extends AnyConfig> = (config: C, watch: LoadWatch) => Promise<LoadedService>;

/** The parts that differ between worker programs. */
export interface WorkerProgram<C extends AnyConfig> {
  /** Parses the daemon's first message. Throws an Error that names the invalid field, never its value. */
  read(message: unknown): C;
  readonly load: LoadService<C>;
}

/** Time limits of the end of a worker. */
export interface EndLimits {
  readonly forceExitMs: number;
  readonly saveLimitMs: number;
}
const END_LIMITS: EndLimits = { forceExitMs: FORCE_EXIT_MS, saveLimitMs: SAVE_LIMIT_MS };

/** Minimum difference between two progress messages. */
const PROGRESS_STEP = 0.02;
/** Interval of the check whether running requests have ended. */
const DRAIN_POLL_MS = 25;
/** Maximum time to send the last message. */
const LAST_MESSAGE_MS = 1_000;

/**
 * Runs this process as a worker: waits for `start` over IPC, listens, loads, reports, and ends when the
 * daemon disconnects, on SIGTERM, or when the engine breaks. SIGINT of a terminal is left to the daemon.
 */
export function runWorker<C extends AnyConfig>(program: WorkerProgram<C>, limits = END_LIMITS): void {
  if (process.send === undefined) {
    process.stderr.write('This program can only be started by the gateway.\n');
    process.exit(WORKER_EXIT.misuse);
  }
  const worker = new Worker(program, limits);
  process.once('message', (message) => worker.start(message));
  process.once('disconnect', () => void worker.end(0));
  // `on`, not `once`: libraries that find no other listener end the process themselves.
  process.on('SIGTERM', () => void worker.end(DRAIN_MS));
  process.on('SIGINT', () => undefined);
  process.on('uncaughtException', (error) => worker.fail(error));
  process.on('unhandledRejection', (error) => worker.fail(error));
}

class Worker<C extends AnyConfig> {
  readonly #program: WorkerProgram<C>;
  readonly #limits: EndLimits;
  readonly #stop = new AbortController();
  #server: WorkerServer | null = null;
  #service: LoadedService | null = null;
  #started: Promise<void> = Promise.resolve();
  #force: NodeJS.Timeout | undefined;

  constructor(program: WorkerProgram<C>, limits: EndLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  start(message: unknown): void {
    this.#started = this.#start(message).catch((error: unknown) => this.fail(error));
  }

  async #start(message: unknown): Promise<void> {
    const config = this.#program.read(message);
    const server = await openServer(config.key, () => this.#health());
    this.#server = server;
    send({ type: 'listening', port: server.port });
    this.#service = await this.#program.load(config, {
      signal: this.#stop.signal,
      onProgress: progressReporter(),
      onBroken: (error) => this.fail(error),
      onRestored: ({ tokens, bytes }) => send({ type: 'restored', tokens, bytes }),
    });
    server.serve(this.#service.routes);
    send({ type: 'ready', info: this.#service.info });
  }

  /** Ends the process: at once when idle, otherwise after `drainMs` at the latest. */
  async end(drainMs: number): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new Error('the worker is ending'));
    this.#limit(this.#limits.forceExitMs);
    await this.#started;
    this.#server?.drain();
    const deadline = performance.now() + drainMs;
    while (this.#busy() && performance.now() < deadline) await pause(DRAIN_POLL_MS);
    this.#server?.close();
    while (this.#busy()) await pause(DRAIN_POLL_MS);
    await this.#save();
    await this.#service?.dispose();
    process.exit(WORKER_EXIT.ended);
  }

  /** Saves what a later start can use, within a separate time limit. */
  async #save(): Promise<void> {
    if (this.#service?.save === undefined) return;
    this.#limit(this.#limits.saveLimitMs);
    send({ type: 'saving' });
    await this.#service.save(!process.connected);
    send({ type: 'saved' });
    this.#limit(this.#limits.forceExitMs);
  }

  /** Exits by force after this time, instead of after an earlier limit. */
  #limit(ms: number): void {
    clearTimeout(this.#force);
    this.#force = setTimeout(forceExit, ms).unref();
  }

  /**
   * Reports the reason to the daemon and exits with a non-zero code. Does not interrupt an exit in progress.
   */
  fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(error);
    const reason = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
    const exit = () => process.exit(WORKER_EXIT.failed);
    setTimeout(exit, LAST_MESSAGE_MS);
    if (process.connected) process.send?.({ type: 'failed', reason } satisfies WorkerMessage, exit);
    else exit();
  }

  #busy(): boolean {
    const stats = this.#service?.stats();
    return stats !== undefined && stats.active + stats.queued > 0;
  }

  #health(): WorkerHealth {
    const stats = this.#service?.stats() ?? { active: 0, queued: 0, tokens_generated: 0 };
    return { status: this.#service === null ? 'loading' : 'ok', ...stats };
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Exits even when a native call hangs, which blocks an orderly exit. */
function forceExit(): void {
  process.kill(process.pid, 'SIGKILL');
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}

function progressReporter(): (fraction: number) => void {
  let last = 0;
  return (fraction) => {
    if (fraction - last < PROGRESS_STEP && fraction < 1) return;
    last = fraction;
    send({ type: 'progress', fraction });
  };
}
