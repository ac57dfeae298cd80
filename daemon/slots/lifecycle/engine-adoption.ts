import type { Runners } from '../runners/table.ts';
import type { SlotSet } from '../slot-set.ts';

/**
 * Engines that an earlier gateway left running. Their runner holds each of them until a start of its slot adopts
 * it.
 */
export class EngineAdoption {
  readonly #runners: Runners;
  readonly #set: Pick<SlotSet, 'isRunning' | 'loadOwn'>;
  /** Slots whose engine already runs and waits to be adopted. */
  readonly #adoptable = new Set<string>();

  constructor(runners: Runners, set: Pick<SlotSet, 'isRunning' | 'loadOwn'>) {
    this.#runners = runners;
    this.#set = set;
  }

  /** Passes the wanted slots to every runner and loads those whose engines were found. */
  discover(wanted: ReadonlySet<string>): void {
    for (const runner of this.#all()) void runner.reconcile?.(wanted).then((running) => this.#adopt(running));
  }

  /** Returns whether the engine of this slot already runs, so that it has its memory. */
  has(slot: string): boolean {
    return this.#adoptable.has(slot);
  }

  /** Marks the adoption of a slot as used. Admission decides on all later loads of the slot. */
  started(slot: string): void {
    this.#adoptable.delete(slot);
  }

  /** Notifies every runner that the gateway stops, so that it may leave engines running for the next one. */
  detach(): void {
    for (const runner of this.#all()) runner.detach?.();
  }

  /** Loads the found slots. A slot that was started in the meantime had its memory decided already. */
  #adopt(running: ReadonlySet<string>): void {
    for (const name of running) {
      if (!this.#set.isRunning(name)) this.#adoptable.add(name);
      void this.#set.loadOwn(name).finally(() => this.#adoptable.delete(name));
    }
  }

  /** Returns each runner once, because one may serve several ids. */
  #all(): Set<Runners[keyof Runners]> {
    return new Set(Object.values(this.#runners));
  }
}
