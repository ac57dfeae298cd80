import { GatewayError } from '../../contract/errors.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Backoff } from '../lifecycle/backoff.ts';
import type { AdmissionOutcome, AdmittedLoad, SlotControllerDeps } from '../lifecycle/controller-deps.ts';
import type { Lease } from '../lifecycle/lease.ts';
import type { SlotMachine } from '../lifecycle/slot.ts';
import type { Waiters } from '../lifecycle/waiters.ts';

export interface SlotAdmissionDeps {
  readonly controller: Pick<SlotControllerDeps, 'admit' | 'withdrawLoad' | 'changed'>;
  readonly machine: SlotMachine;
  readonly waiters: Waiters<Lease>;
  readonly backoff: Backoff;
  /** Called when the load is admitted. */
  start(config: SlotConfig, admitted: AdmittedLoad): void;
}

/** The admission state of one slot: admitted immediately, waiting until other slots have ended, or refused. */
export class SlotAdmission {
  readonly #deps: SlotAdmissionDeps;
  #waitsFor: readonly string[] | null = null;

  constructor(deps: SlotAdmissionDeps) {
    this.#deps = deps;
  }

  /** The slots that the load waits for; null while it does not wait. */
  get waitsFor(): readonly string[] | null {
    return this.#waitsFor;
  }

  /** Requests admission from `offline` or `error`: starts the load, waits for memory, or refuses all waiters. */
  request(config: SlotConfig): void {
    const { controller, waiters, backoff } = this.#deps;
    let outcome: AdmissionOutcome;
    try {
      outcome = controller.admit(config, waiters.isRequested);
    } catch (cause) {
      waiters.refuse(cause);
      this.giveUp(cause instanceof GatewayError && cause.code === 'slot.no_memory');
      return;
    }
    backoff.pause();
    if (outcome.kind === 'wait') this.#wait(outcome.for);
    else {
      this.#waitsFor = null;
      this.#deps.start(config, outcome.admitted);
    }
    if (outcome.kind === 'start' || !outcome.undecided) waiters.notifyAdmitted();
  }

  /** Gives up the load, for example because memory is missing. A failed slot is retried later. */
  giveUp(lackedMemory: boolean): void {
    const { backoff, machine } = this.#deps;
    this.withdraw();
    if (backoff.failure !== null && machine.is('error')) {
      backoff.postpone(backoff.failure, lackedMemory);
    }
  }

  /** Removes the load from the queue. Returns whether it was waiting. */
  withdraw(): boolean {
    if (this.#waitsFor === null) return false;
    this.#waitsFor = null;
    this.#deps.controller.withdrawLoad();
    this.#deps.controller.changed();
    return true;
  }

  #wait(names: readonly string[]): void {
    if (this.#waitsFor?.join() === names.join()) return;
    this.#waitsFor = names;
    this.#deps.controller.changed();
  }
}
