import type { SlotConfig } from '../config/slot-file.ts';
import type { Loaded } from '../runners/runner.ts';
import type { Admitted, Current, OwnerParts } from './controller-deps.ts';
import type { SlotMachine } from './slot.ts';
import { outcomeOfStart } from './start-engine.ts';
import { HealthWatch, HUNG, WATCH_PACE } from './watch.ts';

/** An engine that was asked to end is forced after this long. */
export const GRACE_MS = 10_000;
/** One whose requests are cut because the drain limit is over is forced after this long. */
export const CUT_GRACE_MS = 2_000;

/** What happens to an engine; each is told in one synchronous step, when `current` is already up to date. */
export interface LifeEvents {
  /** The slot is `ready`. */
  ready(current: Current): void;
  /** Stopped on purpose, its end was seen; the slot is still `stopping`. */
  stopped(current: Current): void;
  /** Broke by itself, its end was seen; the slot is `stopping` (a start) or `ready` or `serving` (a crash). */
  failed(current: Current, reason: string): void;
  /** Ended while its last requests were being served out; the slot is still `draining`. */
  lost(): void;
}

/** The one engine that a slot has at a time: its start, its checks, its end, and the states between. */
export class EngineLife {
  readonly #parts: OwnerParts;
  readonly #machine: SlotMachine;
  readonly #events: LifeEvents;
  #current: Current | null = null;
  #watch: HealthWatch | null = null;
  /** The engine that was found hung and is being killed. */
  #hung: Current | null = null;

  constructor(parts: OwnerParts, machine: SlotMachine, events: LifeEvents) {
    this.#parts = parts;
    this.#machine = machine;
    this.#events = events;
  }

  /** What runs now; null when nothing does. */
  get current(): Current | null {
    return this.#current;
  }

  /** Starts an engine; from `offline` or `error`. */
  start(config: SlotConfig, admitted: Admitted): void {
    const trial = this.#machine.is('error');
    const running = this.#parts.start(config, admitted.launch);
    this.#machine.go(running.fetched === undefined ? 'starting' : 'pulling');
    const current = {
      ...admitted,
      config,
      running,
      trial,
      control: new AbortController(),
      startedAt: this.#parts.clock.now(),
      loaded: null,
      readySince: null,
    };
    this.#current = current;
    void this.#follow(config, current);
  }

  /** Ends a start that is no longer wanted; without effect on an engine that is ready. */
  cut(why: string): void {
    this.#current?.control.abort(new Error(why));
  }

  /** Towards the end from wherever the engine is, without cutting a request: a serving one drains first. */
  letGo(): void {
    if (this.#machine.is('ready')) this.stop(GRACE_MS);
    else if (this.#machine.is('serving')) this.#machine.go('draining');
    else this.cut('unloaded');
  }

  /** Ends a ready or drained engine on purpose, by force after `graceMs`. */
  stop(graceMs: number): void {
    const current = this.#current;
    if (current === null) return;
    this.#watch?.stop();
    this.#machine.go('stopping');
    void current.running.stop(graceMs).then(() => {
      this.#current = null;
      this.#events.stopped(current);
    });
  }

  async #follow(config: SlotConfig, current: Current): Promise<void> {
    const outcome = await outcomeOfStart(current.running, current.launch, {
      clock: this.#parts.clock,
      signal: current.control.signal,
      graceMs: GRACE_MS,
      onFetched: () => this.#machine.go('starting'),
      onLoaded: () => this.#machine.go('warming'),
      onStopping: () => this.#machine.go('stopping'),
      check: (loaded, signal) => this.#parts.check(config, current.launch, loaded, signal),
    });
    if (outcome.kind === 'ready') return this.#becomeReady(config, current, outcome.loaded);
    this.#current = null;
    if (outcome.kind === 'cut' || current.control.signal.aborted) this.#events.stopped(current);
    else this.#events.failed(current, outcome.reason);
  }

  #becomeReady(config: SlotConfig, current: Current, loaded: Loaded): void {
    current.loaded = loaded;
    current.readySince = this.#parts.clock.now();
    this.#machine.go('ready');
    this.#tell(current, loaded);
    this.#watch = this.#watchOver(config, current, loaded);
    void current.running.ended.then(({ reason }) => this.#ended(current, reason));
    // Cut in the very moment in which it became ready.
    if (current.control.signal.aborted) this.stop(GRACE_MS);
    else this.#events.ready(current);
  }

  /** One line in the log names what serves from now on, the backend in use first of all. */
  #tell({ launch }: Current, { device, layers, context, parallel }: Loaded): void {
    const { slot, engine, modelId: model } = launch;
    this.#parts.log.info({ slot, engine, model, device, layers, context, parallel }, 'slot is ready');
  }

  /** A hung engine is killed; what follows is what follows any engine that ends by itself. */
  #watchOver(config: SlotConfig, current: Current, loaded: Loaded): HealthWatch | null {
    const { clock, ask, watchPace = WATCH_PACE } = this.#parts;
    const sign = this.#parts.signOfLife(config, current.launch);
    if (sign === null) return null;
    return new HealthWatch(clock, watchPace, {
      busy: () => !sign.whileServing && !this.#machine.is('ready'),
      ask: (signal) => ask(loaded, sign.question, signal),
      hung: () => {
        this.#hung = current;
        void current.running.stop(0);
      },
    });
  }

  #ended(current: Current, why: string): void {
    if (this.#current !== current || this.#machine.is('stopping')) return;
    this.#watch?.stop();
    const reason = this.#hung === current ? HUNG : why;
    if (this.#machine.is('draining')) {
      this.#events.lost();
      return;
    }
    this.#current = null;
    this.#events.failed(current, reason);
  }
}
