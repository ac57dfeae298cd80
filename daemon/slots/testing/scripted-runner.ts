import type { Launch } from '../engines/engine.ts';
import type { EngineExit, LoadedEngine, Runner, RunningEngine } from '../runners/runner.ts';

/** An engine without a process, whose every step a test takes by hand. */
export class ScriptedEngine implements RunningEngine {
  readonly pid = null;
  readonly launch: Launch;
  readonly #loaded = Promise.withResolvers<LoadedEngine>();
  readonly #ended = Promise.withResolvers<EngineExit>();
  readonly #fetched: PromiseWithResolvers<void> | null;
  /** The graces with which it was asked to stop. */
  readonly stops: number[] = [];
  /** Ends by itself when asked to stop; else the test calls `end`. */
  stopsOnRequest = true;
  share: number | null = null;
  /** What it says that it runs on. */
  device = 'cpu';
  /** It has ended. */
  hasEnded = false;
  /** It has ended because it was asked to. */
  wasStopped = false;

  constructor(launch: Launch, fetches = false) {
    this.launch = launch;
    this.#fetched = fetches ? Promise.withResolvers() : null;
  }

  get fetched(): Promise<void> | undefined {
    return this.#fetched?.promise;
  }

  /** What it is made of is here. */
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

/** A runner that hands every engine it starts to the test. */
export class ScriptedRunner implements Runner {
  readonly id = 'worker';
  readonly engines: ScriptedEngine[] = [];
  /** Engines load at once. */
  loadsAtOnce = true;
  /** Calls `load` when an engine is loaded, in the place of at once. */
  loadAfter: ((load: () => void) => void) | null = null;
  /** Engines are made of something that has to be fetched first. */
  needsFetch = false;
  /** What engines say that they run on. */
  device = 'cpu';

  start(launch: Launch): RunningEngine {
    const engine = new ScriptedEngine(launch, this.needsFetch);
    engine.device = this.device;
    this.engines.push(engine);
    if (this.loadAfter !== null) this.loadAfter(() => engine.load());
    else if (this.loadsAtOnce) engine.load();
    return engine;
  }

  /** The engine started last. */
  get last(): ScriptedEngine {
    const engine = this.engines.at(-1);
    if (engine === undefined) throw new Error('nothing was started');
    return engine;
  }

  /** How many were started. */
  get starts(): number {
    return this.engines.length;
  }
}
