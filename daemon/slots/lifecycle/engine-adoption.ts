import type { Runners } from '../runners/table.ts';
import type { SlotSet } from '../slot-set.ts';

/** Engines that an earlier gateway left running: each is kept by its runner until a start of its slot takes it up. */
export class EngineAdoption {
  readonly #runners: Runners;
  readonly #set: Pick<SlotSet, 'isRunning' | 'load'>;
  /** Slots whose engine runs already, until their start takes it up. */
  readonly #adoptable = new Set<string>();

  constructor(runners: Runners, set: Pick<SlotSet, 'isRunning' | 'load'>) {
    this.#runners = runners;
    this.#set = set;
  }

  /** Tells every runner which slots are wanted, and loads those whose engines it has found. */
  discover(wanted: ReadonlySet<string>): void {
    for (const runner of this.#all()) void runner.reconcile?.(wanted).then((running) => this.#adopt(running));
  }

  /** Whether the engine of this slot runs already, so that it has its memory. */
  has(slot: string): boolean {
    return this.#adoptable.has(slot);
  }

  /** A start of this slot begins: all loads after this one are decided on, whatever becomes of it. */
  started(slot: string): void {
    this.#adoptable.delete(slot);
  }

  /** Tells every runner that the gateway ends, so that it may leave engines to the next one. */
  detach(): void {
    for (const runner of this.#all()) runner.detach?.();
  }

  /** One that was started meanwhile had its memory decided. */
  #adopt(running: ReadonlySet<string>): void {
    for (const name of running) {
      if (!this.#set.isRunning(name)) this.#adoptable.add(name);
      void this.#set.load(name).finally(() => this.#adoptable.delete(name));
    }
  }

  /** One runner may stand in the place of several. */
  #all(): Set<Runners[keyof Runners]> {
    return new Set(Object.values(this.#runners));
  }
}
