import { PLACES } from './places.ts';
import { readState, type SetupState, type SetupWork } from './setup-state.ts';

/** Slots in the order in which they are shown and asked for. */
const ORDER: readonly string[] = Object.values(PLACES);

/** Where the state outlives the gateway. */
export interface KeptText {
  get(): string | null;
  set(text: string): void;
}

/** What was done in setup, remembered from the moment that it is. */
export class KeptState {
  readonly #kept: KeptText;
  #state: SetupState;

  constructor(kept: KeptText) {
    this.#kept = kept;
    this.#state = readState(kept.get());
  }

  get state(): SetupState {
    return this.#state;
  }

  change(change: Partial<SetupState>): void {
    this.#state = { ...this.#state, ...change };
    this.#kept.set(JSON.stringify(this.#state));
  }

  work(slot: string): SetupWork | undefined {
    return this.#state.work.find((one) => one.slot === slot);
  }

  /** Puts work in the place of what its slot had. */
  putWork(work: SetupWork): void {
    const others = this.#state.work.filter(({ slot }) => slot !== work.slot);
    this.change({ work: [...others, work].sort((a, b) => ORDER.indexOf(a.slot) - ORDER.indexOf(b.slot)) });
  }
}
