import { useStore } from 'zustand';
import { createStore, type StoreApi } from 'zustand/vanilla';

/** Maximum stored characters of one mode. */
const MAX_CHARS = 500_000;

type Values = Readonly<Record<string, string>>;

/**
 * Field values of a mode. They live outside the view, so that a failure or a change of the view does not lose them, and in
 * the tab's storage, so that they survive a reload.
 */
export class Fields<T extends Values> {
  readonly #key: string;
  readonly #fresh: T;
  readonly state: StoreApi<T>;

  constructor(name: string, fresh: T) {
    this.#key = `svc.playground.${name}`;
    this.#fresh = fresh;
    this.state = createStore(() => stored(this.#key, fresh));
  }

  set(change: Partial<T>): void {
    this.state.setState(change);
    try {
      const text = JSON.stringify(this.state.getState());
      if (text.length <= MAX_CHARS) sessionStorage.setItem(this.#key, text);
    } catch {
      // Storage is disabled or full: the values on the screen stay.
    }
  }

  /** Restores the initial values. */
  reset(): void {
    this.set(this.#fresh);
  }
}

/** Reads stored values; ignores fields that no longer exist. */
function stored<T extends Values>(key: string, fresh: T): T {
  try {
    const read = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Record<string, unknown>;
    const known = Object.keys(fresh).filter((name) => typeof read[name] === 'string');
    return { ...fresh, ...Object.fromEntries(known.map((name) => [name, read[name]])) };
  } catch {
    return fresh;
  }
}

/** Subscribes to the fields. */
export function useFields<T extends Values>(fields: Fields<T>): T {
  return useStore(fields.state);
}
