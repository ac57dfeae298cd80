import type { SlotConfig } from '../config/slot-config.ts';
import type { LoadedEngine } from '../runners/runner.ts';
import type { AdmittedLoad, EngineRun, SlotControllerDeps } from './controller-deps.ts';
import type { SlotMachine } from './slot.ts';
import { startOutcome } from './start-engine.ts';
import { HealthWatch, HUNG_REASON, WATCH_PACE } from './watch.ts';

/** An engine that was stopped is killed after this time. */
export const GRACE_MS = 10_000;
/** An engine is killed after this time when the drain limit is over and its requests are cut. */
export const CUT_GRACE_MS = 2_000;

/** Maximum time for a check after a failed call, in milliseconds. An attached server has 1.2 s to become reachable. */
export const CHECK_LIMIT_MS = 2_000;

/** Events of an engine. Each is emitted in one synchronous step, after `current` was updated. */
export interface LifecycleEvents {
  /** The slot is `ready`. */
  ready(current: EngineRun): void;
  /** Stopped on purpose and its end was observed. The slot is still `stopping`. */
  stopped(current: EngineRun): void;
  /**
   * Failed on its own and its end was observed. The slot is `stopping` (a failed start) or `ready` or `serving` (a
   * crash).
   */
  failed(current: EngineRun, reason: string): void;
  /** Exited while its last requests were being served. The slot is still `draining`. */
  exitedWhileDraining(): void;
}

/** The one engine of a slot: its start, checks and end, and the states between. */
export class EngineLifecycle {
  readonly #deps: SlotControllerDeps;
  readonly #machine: SlotMachine;
  readonly #events: LifecycleEvents;
  #current: EngineRun | null = null;
  /** The engine that failed last; null since the next start. */
  #failed: EngineRun | null = null;
  #watch: HealthWatch | null = null;
  /** The engine that does not respond and is being killed. */
  #hung: EngineRun | null = null;

  constructor(deps: SlotControllerDeps, machine: SlotMachine, events: LifecycleEvents) {
    this.#deps = deps;
    this.#machine = machine;
    this.#events = events;
  }

  /** The engine that runs now; null when none does. */
  get current(): EngineRun | null {
    return this.#current;
  }

  /** The engine that runs now, or that failed last. */
  get latest(): EngineRun | null {
    return this.#current ?? this.#failed;
  }

  /**
   * Checks the engine at once, because a call to it failed. Resolves with why the engine has ended; null when it
   * responds, or when nothing is known after 2 s.
   */
  async check(current: EngineRun): Promise<string | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const cancel = this.#deps.clock.after(CHECK_LIMIT_MS, () => resolve(null));
    const control = new AbortController();
    const ended = current.running.ended.then(({ reason }) => (this.#hung === current ? HUNG_REASON : reason));
    const probed = current.running.check?.() ?? this.#responds(current, control.signal);
    try {
      return await Promise.race([late, ended, probed.then((responds) => (responds ? null : ended))]);
    } finally {
      cancel();
      control.abort(new Error('the check is over'));
    }
  }

  /** Returns whether a started engine responds to its liveness probe. One without a probe counts as silent. */
  async #responds({ config, launch, loaded }: EngineRun, signal: AbortSignal): Promise<boolean> {
    const probe = this.#deps.livenessProbe(config, launch);
    if (probe === null || loaded === null) return false;
    return this.#deps.query(loaded, probe.query, signal).then(
      () => true,
      () => false,
    );
  }

  /** Starts an engine from `offline` or `error`. */
  start(config: SlotConfig, admitted: AdmittedLoad): void {
    const trial = this.#machine.is('error');
    const running = this.#deps.start(config, admitted.launch);
    this.#machine.transition(running.fetched === undefined ? 'starting' : 'pulling');
    const current = {
      ...admitted,
      config,
      running,
      trial,
      control: new AbortController(),
      startedAt: this.#deps.clock.now(),
      loaded: null,
      readySince: null,
    };
    this.#current = current;
    this.#failed = null;
    void this.#follow(config, current);
  }

  /** Cancels a start that is no longer wanted. Does nothing to a ready engine. */
  cancelStart(why: string): void {
    this.#current?.control.abort(new Error(why));
  }

  /** Ends the engine from any state without cutting a request: a serving engine drains first. */
  shutDown(): void {
    if (this.#machine.is('ready')) this.stop(GRACE_MS);
    else if (this.#machine.is('serving')) this.#machine.transition('draining');
    else this.cancelStart('unloaded');
  }

  /** Stops a ready or drained engine on purpose and kills it after `graceMs`. */
  stop(graceMs: number): void {
    const current = this.#current;
    if (current === null) return;
    this.#watch?.stop();
    this.#machine.transition('stopping');
    void current.running.stop(graceMs).then(() => {
      this.#current = null;
      this.#events.stopped(current);
    });
  }

  async #follow(config: SlotConfig, current: EngineRun): Promise<void> {
    const outcome = await startOutcome(current.running, current.launch, {
      clock: this.#deps.clock,
      signal: current.control.signal,
      graceMs: GRACE_MS,
      onFetched: () => this.#machine.transition('starting'),
      onLoaded: () => this.#machine.transition('warming'),
      onStopping: () => this.#machine.transition('stopping'),
      check: (loaded, signal) => this.#deps.check(config, current.launch, loaded, signal),
    });
    if (outcome.kind === 'ready') return this.#becomeReady(config, current, outcome.loaded);
    this.#current = null;
    if (outcome.kind === 'cancelled' || current.control.signal.aborted) this.#events.stopped(current);
    else this.#events.failed(current, outcome.reason);
  }

  #becomeReady(config: SlotConfig, current: EngineRun, loaded: LoadedEngine): void {
    current.loaded = loaded;
    current.readySince = this.#deps.clock.now();
    this.#machine.transition('ready');
    this.#logReady(current, loaded);
    this.#watch = this.#startWatch(config, current, loaded);
    void current.running.ended.then(({ reason }) => this.#onExit(current, reason));
    // The start was cancelled at the moment in which the engine became ready.
    if (current.control.signal.aborted) this.stop(GRACE_MS);
    else this.#events.ready(current);
  }

  /** Logs what serves from now on, including the backend in use. */
  #logReady({ launch }: EngineRun, { device, layers, context, parallel }: LoadedEngine): void {
    const { slot, engine, modelId: model } = launch;
    this.#deps.log.info({ slot, engine, model, device, layers, context, parallel }, 'slot is ready');
  }

  /** Starts the health watch. A hung engine is killed, and is then treated like any engine that ends on its own. */
  #startWatch(config: SlotConfig, current: EngineRun, loaded: LoadedEngine): HealthWatch | null {
    const { clock, query, watchPace = WATCH_PACE } = this.#deps;
    const probe = this.#deps.livenessProbe(config, current.launch);
    if (probe === null) return null;
    return new HealthWatch(clock, watchPace, {
      isBusy: () => !probe.answersWhileServing && !this.#machine.is('ready'),
      probe: (signal) => query(loaded, probe.query, signal),
      onHung: () => {
        this.#hung = current;
        void current.running.stop(0);
      },
    });
  }

  #onExit(current: EngineRun, why: string): void {
    if (this.#current !== current || this.#machine.is('stopping')) return;
    this.#watch?.stop();
    const reason = this.#hung === current ? HUNG_REASON : why;
    if (this.#machine.is('draining')) {
      this.#events.exitedWhileDraining();
      return;
    }
    this.#current = null;
    this.#failed = current;
    this.#events.failed(current, reason);
  }
}
