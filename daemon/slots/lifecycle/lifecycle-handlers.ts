import { failedError } from '../refusals.ts';
import type { Backoff } from './backoff.ts';
import type { EngineRun, SlotControllerDeps } from './controller-deps.ts';
import type { LifecycleEvents } from './engine-lifecycle.ts';
import { hasServedLong } from './failure.ts';
import type { Lease } from './lease.ts';
import type { Serving } from './serving.ts';
import type { SlotMachine } from './slot.ts';
import type { Waiters } from './waiters.ts';

export interface LifecycleHandlersDeps {
  readonly slot: string;
  readonly controller: Pick<SlotControllerDeps, 'clock' | 'log' | 'ready' | 'ended' | 'failed'>;
  readonly machine: SlotMachine;
  readonly waiters: Waiters<Lease>;
  readonly serving: Serving;
  readonly backoff: Backoff;
  /** Requests admission for a load. */
  requestAdmission(): void;
  /** Takes the next step. */
  settle(): void;
  /** Reads again which model the slot should hold. */
  refreshModel(): void;
}

/** Handles the events of an engine: serves waiters, starts the idle time, records failures, refuses waiters. */
export class LifecycleHandlers implements LifecycleEvents {
  readonly #deps: LifecycleHandlersDeps;

  constructor(deps: LifecycleHandlersDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves load requests and serves waiters. A demonstration model may have to yield to a real one immediately.
   */
  ready(current: EngineRun): void {
    const { controller, waiters, serving, settle, refreshModel } = this.#deps;
    waiters.resolveLoads();
    controller.ready(current);
    serving.startIdleTimer();
    settle();
    if (current.launch.demo) refreshModel();
  }

  /** Completes a deliberate stop. A failed slot whose trial was cancelled returns to `error`. */
  stopped(current: EngineRun): void {
    const { controller, machine, waiters, backoff, requestAdmission, settle } = this.#deps;
    controller.ended(current);
    if (hasServedLong(current.readySince, controller.clock.now())) backoff.reset();
    const { failure } = backoff;
    if (failure === null || !current.trial || current.readySince !== null) {
      machine.transition('offline');
      settle();
      return;
    }
    machine.transition('error');
    backoff.postpone(failure, false);
    if (waiters.isLoadRequested) requestAdmission();
    else this.#refuse();
  }

  /** Records the failure of an engine and ends the requests that it served. */
  failed(current: EngineRun, reason: string): void {
    const { slot, controller, machine, serving, backoff, refreshModel } = this.#deps;
    serving.abandon();
    controller.ended(current);
    controller.failed(current);
    const { failures, parked } = backoff.recordFailure(reason, current.readySince, current.launch.modelId);
    machine.transition('error');
    controller.log.warn({ slot, reason, failures, parked }, 'slot failed');
    this.#refuse();
    // Another model may be chosen now, because this one has failed.
    refreshModel();
  }

  /** Completes a drain whose engine exited early. */
  exitedWhileDraining(): void {
    const { serving, settle } = this.#deps;
    serving.abandon();
    settle();
  }

  #refuse(): void {
    const { slot, controller, waiters, backoff } = this.#deps;
    if (backoff.failure !== null) waiters.refuse(failedError(slot, backoff.failure, controller.clock.now()));
  }
}
