import type { SlotStateName } from '../../contract/slots.ts';

/** Slots that exist on a fresh machine, without a slot file. */
export const BUILT_IN_SLOTS: readonly string[] = ['agent'];

/**
 * The transition table (docs/spec/contract.md#slot-transitions): the states that may follow each state. A
 * transition that is not listed is a bug. A failed start and a cancelled one both pass through `stopping`,
 * because no slot is `offline` or `error` before the end of its process was observed.
 */
export const TRANSITIONS: Readonly<Record<SlotStateName, readonly SlotStateName[]>> = {
  offline: ['pulling', 'starting'],
  pulling: ['starting', 'stopping', 'error'],
  starting: ['warming', 'stopping', 'error'],
  warming: ['ready', 'stopping', 'error'],
  ready: ['serving', 'draining', 'stopping', 'error'],
  serving: ['ready', 'draining', 'error'],
  draining: ['stopping'],
  stopping: ['offline', 'error'],
  error: ['pulling', 'starting', 'offline'],
};

const RESTING: readonly SlotStateName[] = ['offline', 'error'];

export const canTransition = (from: SlotStateName, to: SlotStateName): boolean =>
  TRANSITIONS[from].includes(to);

/** A transition that is not in the table: a bug in the gateway, never an error for a caller. */
export class IllegalTransition extends Error {
  constructor(slot: string, from: SlotStateName, to: SlotStateName) {
    super(`slot ${slot}: ${from} → ${to} is not a legal transition`);
    this.name = 'IllegalTransition';
  }
}

/** The state of one slot. It changes only along the table. */
export class SlotMachine {
  readonly #slot: string;
  readonly #changed: (to: SlotStateName) => void;
  readonly #now: () => number;
  #state: SlotStateName = 'offline';
  #since: number;
  #rest = Promise.withResolvers<void>();

  constructor(slot: string, changed: (to: SlotStateName) => void, now: () => number = Date.now) {
    this.#slot = slot;
    this.#changed = changed;
    this.#now = now;
    this.#since = now();
    this.#rest.resolve();
  }

  /** Resolves when no engine runs: immediately in `offline` and `error`, otherwise when one of them is reached. */
  get atRest(): Promise<void> {
    return this.#rest.promise;
  }

  get state(): SlotStateName {
    return this.#state;
  }

  /** Unix milliseconds of the last transition. */
  get since(): number {
    return this.#since;
  }

  /** Makes a transition. Throws IllegalTransition for one that is not in the table. */
  transition(to: SlotStateName): void {
    const from = this.#state;
    if (!canTransition(from, to)) throw new IllegalTransition(this.#slot, from, to);
    this.#state = to;
    this.#since = this.#now();
    if (RESTING.includes(to)) this.#rest.resolve();
    else if (RESTING.includes(from)) this.#rest = Promise.withResolvers<void>();
    this.#changed(to);
  }

  is(...states: readonly SlotStateName[]): boolean {
    return states.includes(this.#state);
  }
}
