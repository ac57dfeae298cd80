import { SLOT_OF_PURPOSE } from './purpose-slots.ts';
import { readState, type SetupJob, type SetupState } from './setup-state.ts';

/** Slots in display and job order. */
const ORDER: readonly string[] = Object.values(SLOT_OF_PURPOSE);

/** Storage of the state across restarts. */
export interface StateStore {
  get(): string | null;
  set(text: string): void;
}

/** The setup state, stored at every change. */
export class StoredSetupState {
  readonly #store: StateStore;
  #state: SetupState;

  constructor(store: StateStore) {
    this.#store = store;
    this.#state = readState(store.get());
  }

  get state(): SetupState {
    return this.#state;
  }

  change(change: Partial<SetupState>): void {
    this.#state = { ...this.#state, ...change };
    this.#store.set(JSON.stringify(this.#state));
  }

  job(slot: string): SetupJob | undefined {
    return this.#state.work.find((one) => one.slot === slot);
  }

  /** Replaces the job of the slot. */
  putJob(work: SetupJob): void {
    const others = this.#state.work.filter(({ slot }) => slot !== work.slot);
    this.change({ work: [...others, work].sort((a, b) => ORDER.indexOf(a.slot) - ORDER.indexOf(b.slot)) });
  }
}
