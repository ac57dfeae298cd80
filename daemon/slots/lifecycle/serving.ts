import type { Clock } from './clock.ts';
import type { EngineRun } from './controller-deps.ts';
import { IdleTimer } from './idle.ts';
import { type Lease, makeLease } from './lease.ts';
import type { SlotMachine } from './slot.ts';
import { Traffic } from './traffic.ts';

export interface ServingDeps {
  readonly clock: Clock;
  readonly machine: SlotMachine;
  /** Returns the engine that runs now. */
  current(): EngineRun | null;
  /** Returns why the slot runs degraded, otherwise null. */
  degraded(): string | null;
  /** Returns the seconds without a request after which the slot is idle; 0 means never. */
  idleTimeoutS(): number;
  /** Called when the slot has had no request for that time. */
  onIdle(): void;
  /** Called when the idle engine gets a request. */
  onServing(current: EngineRun): void;
  /** Called when the caller of a request has left and the engine cannot stop. */
  onAbandoned(): void;
  /** Called when a request of the engine that runs now has ended. */
  onRequestEnded(current: EngineRun): void;
}

/**
 * The requests that the engine of one slot serves: grants and counts leases, and runs the idle timer while there
 * are none.
 */
export class Serving {
  readonly traffic = new Traffic();
  readonly #deps: ServingDeps;
  readonly #idleTimer: IdleTimer;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
    this.#idleTimer = new IdleTimer(deps.clock, deps.onIdle);
  }

  /** Grants a lease. Only for a slot that is ready or serving. */
  grantLease(): Lease {
    const { clock, machine, degraded } = this.#deps;
    const current = this.#deps.current() as EngineRun;
    this.#idleTimer.stop();
    this.traffic.requestStarted(clock.now());
    if (machine.is('ready')) {
      machine.transition('serving');
      this.#deps.onServing(current);
    }
    const isCurrent = () => this.#deps.current() === current;
    return makeLease(current, degraded(), {
      onAbandon: () => {
        if (!isCurrent()) return;
        this.traffic.requestAbandoned();
        this.#deps.onAbandoned();
      },
      onRelease: (wasAbandoned) => {
        if (isCurrent()) this.#onRelease(current, wasAbandoned);
      },
    });
  }

  /** Starts the idle time, because no request is being served. */
  startIdleTimer(): void {
    this.#idleTimer.start(this.#deps.idleTimeoutS());
  }

  /** Stops the idle time before the engine is stopped. Requests continue. */
  stopIdleTimer(): void {
    this.#idleTimer.stop();
  }

  /** Clears all requests, because the engine has ended. */
  abandon(): void {
    this.#idleTimer.stop();
    this.traffic.clear();
  }

  #onRelease(current: EngineRun, wasAbandoned: boolean): void {
    const { clock, machine, onRequestEnded } = this.#deps;
    this.traffic.requestEnded(clock.now(), wasAbandoned);
    if (this.traffic.active === 0 && machine.is('serving')) {
      machine.transition('ready');
      this.startIdleTimer();
    }
    onRequestEnded(current);
  }
}
