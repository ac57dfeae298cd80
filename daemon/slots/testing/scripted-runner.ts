import type { Launch } from '../engines/engine.ts';
import type { EngineExit, LoadedEngine, Runner, RunningEngine } from '../runners/runner.ts';

/** An engine without a process that the test controls step by step. */
export class ScriptedEngine implements RunningEngine {
  readonly pid = null;
  readonly launch: Launch;
  readonly #loaded = Promise.withResolvers<LoadedEngine>();
  readonly #ended = Promise.withResolvers<EngineExit>();
  readonly #fetched: PromiseWithResolvers<void> | null;
  /** The grace of each stop. */
  readonly stops: number[] = [];
  /** Whether it ends on `stop`; otherwise the test calls `end`. */
  stopsOnRequest = true;
  share: number | null = null;
  /** The device that it reports. */
  device = 'cpu';
  /** It has ended. */
  hasEnded = false;
  /** Whether it ended because of a stop. */
  wasStopped = false;

  constructor(launch: Launch, fetches = false) {
    this.launch = launch;
    this.#fetched = fetches ? Promise.withResolvers() : null;
  }

  get fetched(): Promise<void> | undefined {
    return this.#fetched?.promise;
  }

  /** Completes the fetch. */
  finishFetch(): void {
    this.#fetched?.resolve();
  }

  get loaded(): Promise<LoadedEngine> {
    return this.#loaded.promise;
  }

  get ended(): Promise<EngineExit> {
    return this.#ended.promise;
  }

  load(): void {
    const { context, parallel, threads } = this.launch;
    const endpoint = { origin: 'http://127.0.0.1:1', headers: { authorization: 'Bearer engine' } };
    this.#loaded.resolve({ ...endpoint, device: this.device, context, parallel, threads });
  }

  end(reason = 'The engine was killed.'): void {
    this.hasEnded = true;
    this.#ended.resolve({ code: null, signal: 'SIGKILL', reason });
  }

  progress(): number | null {
    return this.share;
  }

  lines(): readonly string[] {
    return [];
  }

  stop(graceMs: number): Promise<EngineExit> {
    this.stops.push(graceMs);
    this.wasStopped ||= !this.hasEnded;
    if (this.stopsOnRequest) this.end('stopped');
    return this.ended;
  }
}

/** A runner that exposes every engine it starts to the test. */
export class ScriptedRunner implements Runner {
  readonly id = 'worker';
  readonly engines: ScriptedEngine[] = [];
  /** Whether engines load immediately. */
  loadsAtOnce = true;
  /** Decides when an engine is loaded, instead of immediately: calls `load`. */
  loadAfter: ((load: () => void) => void) | null = null;
  /** Whether engines have to fetch something first. */
  needsFetch = false;
  /** The device that engines report. */
  device = 'cpu';

  start(launch: Launch): RunningEngine {
    const engine = new ScriptedEngine(launch, this.needsFetch);
    engine.device = this.device;
    this.engines.push(engine);
    if (this.loadAfter !== null) this.loadAfter(() => engine.load());
    else if (this.loadsAtOnce) engine.load();
    return engine;
  }

  /** The engine that was started last. */
  get last(): ScriptedEngine {
    const engine = this.engines.at(-1);
    if (engine === undefined) throw new Error('nothing was started');
    return engine;
  }

  /** The number of started engines. */
  get starts(): number {
    return this.engines.length;
  }
}
