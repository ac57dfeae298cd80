import { GatewayError } from '../../contract/errors.ts';
import type { SlotConfig } from '../config/slot-file.ts';
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
  /** Admission has let the load through. */
  start(config: SlotConfig, admitted: AdmittedLoad): void;
}

/** The way of one slot through admission: let through at once, waiting until others have left, or refused. */
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

  /** Starts if admission lets it, waits for memory, or refuses everybody; from `offline` or `error`. */
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

  /** There is no load for now, maybe for want of memory; a failed slot is tried again later. */
  giveUp(lackedMemory: boolean): void {
    const { backoff, machine } = this.#deps;
    this.withdraw();
    if (backoff.failure !== null && machine.is('error')) {
      backoff.postpone(backoff.failure, lackedMemory);
    }
  }

  /** Gives up its place in the line; answers whether it had one. */
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
