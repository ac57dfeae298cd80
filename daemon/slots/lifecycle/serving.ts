import type { Clock } from './clock.ts';
import type { EngineRun } from './controller-deps.ts';
import { IdleTimer } from './idle.ts';
import { type Lease, makeLease } from './lease.ts';
import type { SlotMachine } from './slot.ts';
import { Traffic } from './traffic.ts';

export interface ServingDeps {
  readonly clock: Clock;
  readonly machine: SlotMachine;
  /** The engine that runs now. */
  current(): EngineRun | null;
  /** Why the slot runs degraded, else null. */
  degraded(): string | null;
  /** Seconds without a request after which the slot is idle; 0 is never. */
  idleTimeoutS(): number;
  /** The slot has been without a request for that long. */
  onIdle(): void;
  /** A request of the engine that runs now has ended. */
  onRequestEnded(current: EngineRun): void;
}

/** The requests that the engine of one slot serves: rights to send are given, counted and taken back, and idle time runs between them. */
export class Serving {
  readonly traffic = new Traffic();
  readonly #deps: ServingDeps;
  readonly #idleTimer: IdleTimer;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
    this.#idleTimer = new IdleTimer(deps.clock, deps.onIdle);
  }

  /** Gives the right to send one request; only for a slot that is ready or serving. */
  grantLease(): Lease {
    const { clock, machine, degraded } = this.#deps;
    const current = this.#deps.current() as EngineRun;
    this.#idleTimer.stop();
    this.traffic.requestStarted(clock.now());
    if (machine.is('ready')) machine.transition('serving');
    return makeLease(current, degraded(), () => {
      if (this.#deps.current() === current) this.#onRelease(current);
    });
  }

  /** Nobody is served from now on: idle time runs. */
  startIdleTimer(): void {
    this.#idleTimer.start(this.#deps.idleTimeoutS());
  }

  /** The engine is to leave: idle time ends, requests go on. */
  stopIdleTimer(): void {
    this.#idleTimer.stop();
  }

  /** The engine is gone, and all its requests with it. */
  abandon(): void {
    this.#idleTimer.stop();
    this.traffic.clear();
  }

  #onRelease(current: EngineRun): void {
    const { clock, machine, onRequestEnded } = this.#deps;
    this.traffic.requestEnded(clock.now());
    if (this.traffic.active === 0 && machine.is('serving')) {
      machine.transition('ready');
      this.startIdleTimer();
    }
    onRequestEnded(current);
  }
}
