import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ContainerEngineError } from '../../../lib/container-engine/engine-error.ts';
import type { LaunchFor } from '../../engines/engine.ts';
import { EngineLog } from '../../lifecycle/engine-log.ts';
import { scrubPaths } from '../../lifecycle/failure-reason.ts';
import type { QueryEngine } from '../../lifecycle/health.ts';
import { keyHeaders, loadedAt } from '../key.ts';
import type { EngineExit, LoadedEngine, RunningEngine } from '../runner.ts';
import { WrongServerError, waitUntilReady } from '../until-ready.ts';
import { ContainerStartError } from './container-start-error.ts';
import type { ContainerEngines } from './engines.ts';
import { hostPid } from './host-resources.ts';
import { type OpenContainer, openContainer } from './open.ts';
import type { ContainerRecords } from './record.ts';
import { exitOf, followOutput, readLastOutput, waitUntilStopped } from './watch.ts';

export interface ContainerRunDeps {
  readonly engines: ContainerEngines;
  readonly records: ContainerRecords;
  readonly state: string;
  readonly logFolder: string;
  readonly query: QueryEngine;
  /** Must settle before the first start. */
  readonly before: Promise<unknown>;
  /**
   * Returns whether `stop` leaves a loaded container running, because the gateway stops and the next one adopts it.
   */
  isDetaching(): boolean;
}

/** Time for an unusable engine to end before it is killed. */
const UNFIT_GRACE_MS = 2_000;
/** Time to wait for the last output of a container that has ended. */
const LAST_OUTPUT_MS = 1_000;
/** Maximum time to read the output again when none was received. */
const READ_OUTPUT_MS = 5_000;

const failedToStart = (reason: string): EngineExit => ({ code: null, signal: null, reason });
const STOPPED = 'The engine was stopped before it had started.';
const UNREACHABLE = 'The container engine does not answer; the container is ended at the next start.';
const DETACHED = 'The container was left running for the next start of the gateway.';

function startFailureReason(cause: unknown): string {
  const known = cause instanceof ContainerStartError || cause instanceof ContainerEngineError;
  return known ? scrubPaths(cause.message) : 'The container could not be started.';
}

/** One engine in a container, from its image or adoption to its end and removal. */
export class ContainerRun implements RunningEngine {
  readonly fetched: Promise<void>;
  readonly loaded: Promise<LoadedEngine>;
  readonly ended: Promise<EngineExit>;
  readonly #deps: ContainerRunDeps;
  readonly #launch: LaunchFor<'container'>;
  readonly #log: EngineLog;
  readonly #fetched = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<LoadedEngine>();
  /** Aborted when the engine is no longer wanted, whatever it is doing. */
  readonly #stop = new AbortController();
  /** Aborted when the end of the container will not be observed. */
  readonly #detached = new AbortController();
  #opened: OpenContainer | null = null;
  #pid: number | null = null;
  #share: number | null = null;
  #knownReason: string | null = null;
  #isLoaded = false;
  #grace = 0;

  constructor(deps: ContainerRunDeps, launch: LaunchFor<'container'>) {
    this.#deps = deps;
    this.#launch = launch;
    this.#log = new EngineLog(deps.logFolder, launch.slot);
    this.fetched = this.#fetched.promise;
    this.loaded = this.#ready.promise;
    this.ended = this.#live().finally(() => this.#log.close());
  }

  get pid(): number | null {
    return this.#pid;
  }

  progress(): number | null {
    return this.#share;
  }

  lines(): readonly string[] {
    return this.#log.lines();
  }

  linesSince(time: number): readonly string[] {
    return this.#log.linesSince(time);
  }

  stop(graceMs: number): Promise<EngineExit> {
    this.#grace = graceMs;
    if (this.#isLoaded && this.#deps.isDetaching()) this.#detached.abort(new Error(DETACHED));
    else this.#stop.abort(new Error(STOPPED));
    return this.ended;
  }

  async #live(): Promise<EngineExit> {
    try {
      await Promise.race([this.#deps.before, once(this.#stop.signal, 'abort')]);
      this.#stop.signal.throwIfAborted();
      this.#opened = await this.#open();
    } catch (cause) {
      const reason = this.#stop.signal.aborted ? STOPPED : startFailureReason(cause);
      this.#log.note(reason);
      return failedToStart(reason);
    }
    return this.#untilEnd(this.#opened);
  }

  #open(): Promise<OpenContainer> {
    const { engines, records, state } = this.#deps;
    return openContainer(this.#launch, {
      engines,
      records,
      state,
      signal: this.#stop.signal,
      onPull: (share) => {
        this.#share = share;
      },
      onFetched: () => {
        this.#share = null;
        this.#fetched.resolve();
      },
      note: (line) => this.#log.note(line),
    });
  }

  async #untilEnd(opened: OpenContainer): Promise<EngineExit> {
    const { engine, id, adopted, port } = opened;
    const over = new AbortController();
    this.#pid = hostPid(opened.pid, id);
    const verb = adopted ? 'adopted' : 'started';
    this.#log.note(`${verb} ${this.#launch.modelId} (container ${id.slice(0, 12)}, port ${port})`);
    const onOutput = (bytes: Buffer) => this.#log.push(bytes);
    const output = followOutput(engine, id, over.signal, onOutput);
    void this.#becomeReady(opened, AbortSignal.any([over.signal, this.#stop.signal]));
    this.#stopOnRequest(opened, over.signal);
    try {
      const state = await waitUntilStopped(engine, id, this.#detached.signal);
      await Promise.race([output, pause(LAST_OUTPUT_MS, undefined, { signal: over.signal }).catch(() => {})]);
      if (this.#log.lines(1).length === 0) await readLastOutput(engine, id, READ_OUTPUT_MS, onOutput);
      const ended = exitOf(state, this.#log.lines(50));
      const reason = this.#knownReason ?? ended.reason;
      this.#log.note(reason);
      await engine.remove(id).catch(() => this.#log.note('the container could not be removed'));
      this.#deps.records.remove(this.#launch.slot, (line) => this.#log.note(line));
      return { ...ended, reason };
    } catch {
      const message = (this.#detached.signal.reason as Error | undefined)?.message ?? UNREACHABLE;
      this.#log.note(message);
      return failedToStart(message);
    } finally {
      over.abort(new Error('ended'));
      this.#pid = null;
    }
  }

  async #becomeReady({ port, key }: OpenContainer, signal: AbortSignal): Promise<void> {
    const { how } = this.#launch;
    const endpoint = { origin: `http://127.0.0.1:${port}`, headers: keyHeaders(how.key, key) };
    try {
      await waitUntilReady({ query: this.#deps.query, endpoint, probe: how.probe, signal });
      this.#isLoaded = true;
      this.#ready.resolve(loadedAt(this.#launch, endpoint));
    } catch (cause) {
      if (signal.aborted) return;
      this.#knownReason = cause instanceof WrongServerError ? cause.message : 'The start broke off.';
      this.#grace = UNFIT_GRACE_MS;
      this.#stop.abort(new Error(this.#knownReason));
    }
  }

  /**
   * Stops the container when a stop is requested. If the container engine does not respond, the end is not
   * observed.
   */
  #stopOnRequest({ engine, id }: OpenContainer, over: AbortSignal): void {
    const halt = () => {
      engine
        .stop(id, this.#grace)
        .catch(() => engine.kill(id))
        .catch(() => {
          if (!over.aborted) this.#detached.abort(new Error(UNREACHABLE));
        });
    };
    if (this.#stop.signal.aborted) halt();
    else this.#stop.signal.addEventListener('abort', halt, { once: true });
  }
}
