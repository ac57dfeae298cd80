import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ContainerEngineError } from '../../../lib/container-engine/engine-error.ts';
import type { LaunchBy } from '../../engines/engine.ts';
import { EngineLog } from '../../lifecycle/engine-log.ts';
import { scrubbed } from '../../lifecycle/failure-reason.ts';
import type { AskEngine } from '../../lifecycle/health.ts';
import { keyHeaders, loadedAt } from '../key.ts';
import type { Ended, Loaded, Running } from '../runner.ts';
import { untilReady, WrongServer } from '../until-ready.ts';
import { CannotStart } from './cannot-start.ts';
import type { EnginePlaces } from './engines.ts';
import { hostPid } from './host-parts.ts';
import { type Opened, openContainer } from './open.ts';
import type { ContainerRecords } from './record.ts';
import { endedWith, endOf, followOutput } from './watch.ts';

export interface ContainerRunParts {
  readonly places: EnginePlaces;
  readonly records: ContainerRecords;
  readonly state: string;
  readonly logFolder: string;
  readonly ask: AskEngine;
  /** Whatever must be over before the first start. */
  readonly before: Promise<unknown>;
  /** Whether a loaded container is left running by `stop`, because the gateway ends and the next one adopts it. */
  leaving(): boolean;
}

/** An engine that is not the one that was meant has this long to end. */
const UNFIT_GRACE_MS = 2_000;
/** Time for the last output of an ended container to arrive. */
const LAST_OUTPUT_MS = 1_000;

const notBegun = (reason: string): Ended => ({ code: null, signal: null, reason });
const STOPPED = 'The engine was stopped before it had started.';
const UNSEEN = 'The container engine does not answer; the container is ended at the next start.';
const LEFT = 'The container was left running for the next start of the gateway.';

function whyNot(cause: unknown): string {
  const known = cause instanceof CannotStart || cause instanceof ContainerEngineError;
  return known ? scrubbed(cause.message) : 'The container could not be started.';
}

/** One engine in a container, from its image or its adoption to its end and removal. */
export class ContainerRun implements Running {
  readonly fetched: Promise<void>;
  readonly loaded: Promise<Loaded>;
  readonly ended: Promise<Ended>;
  readonly #parts: ContainerRunParts;
  readonly #launch: LaunchBy<'container'>;
  readonly #log: EngineLog;
  readonly #fetched = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<Loaded>();
  /** The engine is not wanted any more, whatever it is doing. */
  readonly #stop = new AbortController();
  /** The end of the container will not be seen. */
  readonly #unseen = new AbortController();
  #opened: Opened | null = null;
  #pid: number | null = null;
  #share: number | null = null;
  #lastWords: string | null = null;
  #isLoaded = false;
  #grace = 0;

  constructor(parts: ContainerRunParts, launch: LaunchBy<'container'>) {
    this.#parts = parts;
    this.#launch = launch;
    this.#log = new EngineLog(parts.logFolder, launch.slot);
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

  stop(graceMs: number): Promise<Ended> {
    this.#grace = graceMs;
    if (this.#isLoaded && this.#parts.leaving()) this.#unseen.abort(new Error(LEFT));
    else this.#stop.abort(new Error(STOPPED));
    return this.ended;
  }

  async #live(): Promise<Ended> {
    try {
      await Promise.race([this.#parts.before, once(this.#stop.signal, 'abort')]);
      this.#stop.signal.throwIfAborted();
      this.#opened = await this.#open();
    } catch (cause) {
      const reason = this.#stop.signal.aborted ? STOPPED : whyNot(cause);
      this.#log.note(reason);
      return notBegun(reason);
    }
    return this.#untilEnd(this.#opened);
  }

  #open(): Promise<Opened> {
    const { places, records, state } = this.#parts;
    return openContainer(this.#launch, {
      places,
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

  async #untilEnd(opened: Opened): Promise<Ended> {
    const { engine, id, adopted, port } = opened;
    const over = new AbortController();
    this.#pid = hostPid(opened.pid, id);
    const verb = adopted ? 'adopted' : 'started';
    this.#log.note(`${verb} ${this.#launch.modelId} (container ${id.slice(0, 12)}, port ${port})`);
    const output = followOutput(engine, id, over.signal, (bytes) => this.#log.push(bytes));
    void this.#becomeReady(opened, AbortSignal.any([over.signal, this.#stop.signal]));
    this.#haltWhenAsked(opened, over.signal);
    try {
      const state = await endOf(engine, id, this.#unseen.signal);
      await Promise.race([output, pause(LAST_OUTPUT_MS, undefined, { signal: over.signal }).catch(() => {})]);
      const ended = endedWith(state, this.#log.lines(50));
      const reason = this.#lastWords ?? ended.reason;
      this.#log.note(reason);
      await engine.remove(id).catch(() => this.#log.note('the container could not be removed'));
      this.#parts.records.forget(this.#launch.slot, (line) => this.#log.note(line));
      return { ...ended, reason };
    } catch {
      const message = (this.#unseen.signal.reason as Error | undefined)?.message ?? UNSEEN;
      this.#log.note(message);
      return notBegun(message);
    } finally {
      over.abort(new Error('ended'));
      this.#pid = null;
    }
  }

  async #becomeReady({ port, key }: Opened, signal: AbortSignal): Promise<void> {
    const { how } = this.#launch;
    const endpoint = { origin: `http://127.0.0.1:${port}`, headers: keyHeaders(how.key, key) };
    try {
      await untilReady({ ask: this.#parts.ask, endpoint, probe: how.probe, signal });
      this.#isLoaded = true;
      this.#ready.resolve(loadedAt(this.#launch, endpoint));
    } catch (cause) {
      if (signal.aborted) return;
      this.#lastWords = cause instanceof WrongServer ? cause.message : 'The start broke off.';
      this.#grace = UNFIT_GRACE_MS;
      this.#stop.abort(new Error(this.#lastWords));
    }
  }

  /** Stops the container once that is asked for; an engine that does not answer costs the sight of its end. */
  #haltWhenAsked({ engine, id }: Opened, over: AbortSignal): void {
    const halt = () => {
      engine
        .stop(id, this.#grace)
        .catch(() => engine.kill(id))
        .catch(() => {
          if (!over.aborted) this.#unseen.abort(new Error(UNSEEN));
        });
    };
    if (this.#stop.signal.aborted) halt();
    else this.#stop.signal.addEventListener('abort', halt, { once: true });
  }
}
