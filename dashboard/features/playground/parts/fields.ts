import { useSyncExternalStore } from 'react';

/** Most characters of one mode that are kept over a reload. */
const MOST = 500_000;

type Values = Readonly<Record<string, string>>;

/**
 * What was typed into a mode. It lives outside the view, so that neither a failure nor another view loses it, and in
 * the tab's storage, so that a reload keeps it.
 */
export class Fields<T extends Values> {
  readonly #key: string;
  readonly #fresh: T;
  readonly #listeners = new Set<() => void>();
  #now: T;

  constructor(name: string, fresh: T) {
    this.#key = `svc.playground.${name}`;
    this.#fresh = fresh;
    this.#now = kept(this.#key, fresh);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): T => this.#now;

  set(change: Partial<T>): void {
    this.#now = { ...this.#now, ...change };
    try {
      const text = JSON.stringify(this.#now);
      if (text.length <= MOST) sessionStorage.setItem(this.#key, text);
    } catch {
      // Storage is off or full: what stands on the screen is not touched.
    }
    for (const listener of this.#listeners) listener();
  }

  /** Everything as it was at first. */
  reset(): void {
    this.set(this.#fresh);
  }
}

/** Only texts of fields that there still are. */
function kept<T extends Values>(key: string, fresh: T): T {
  try {
    const read = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Record<string, unknown>;
    const known = Object.keys(fresh).filter((name) => typeof read[name] === 'string');
    return { ...fresh, ...Object.fromEntries(known.map((name) => [name, read[name]])) };
  } catch {
    return fresh;
  }
}

/** The fields, live. */
export function useFields<T extends Values>(fields: Fields<T>): T {
  return useSyncExternalStore(fields.subscribe, fields.get);
}
