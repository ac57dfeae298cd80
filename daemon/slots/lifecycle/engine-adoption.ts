import type { Runners } from '../runners/table.ts';
import type { SlotSet } from '../slot-set.ts';

/** Engines that an earlier gateway left running: each is kept by its runner until a start of its slot takes it up. */
export class KeptEngines {
  readonly #runners: Runners;
  readonly #set: Pick<SlotSet, 'runs' | 'load'>;
  /** Slots whose engine runs already, until their start takes it up. */
  readonly #found = new Set<string>();

  constructor(runners: Runners, set: Pick<SlotSet, 'runs' | 'load'>) {
    this.#runners = runners;
    this.#set = set;
  }

  /** Tells every runner which slots are wanted, and loads those whose engines it has found. */
  find(wanted: ReadonlySet<string>): void {
    for (const runner of this.#all()) void runner.reconcile?.(wanted).then((kept) => this.#takeUp(kept));
  }

  /** Whether the engine of this slot runs already, so that it has its memory. */
  has(slot: string): boolean {
    return this.#found.has(slot);
  }

  /** A start of this slot begins: all loads after this one are decided on, whatever becomes of it. */
  started(slot: string): void {
    this.#found.delete(slot);
  }

  /** Tells every runner that the gateway ends, so that it may leave engines to the next one. */
  retire(): void {
    for (const runner of this.#all()) runner.retire?.();
  }

  /** One that was started meanwhile had its memory decided. */
  #takeUp(kept: ReadonlySet<string>): void {
    for (const name of kept) {
      if (!this.#set.runs(name)) this.#found.add(name);
      void this.#set.load(name).finally(() => this.#found.delete(name));
    }
  }

  /** One runner may stand in the place of several. */
  #all(): Set<Runners[keyof Runners]> {
    return new Set(Object.values(this.#runners));
  }
}
