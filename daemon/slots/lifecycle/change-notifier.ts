import type { Clock } from './clock.ts';

/** Changes of one slot within this time are merged into one event. */
const DEBOUNCE_MS = 100;

/**
 * Debounces changes: collects the names of changed slots and notifies of all of them together, each once, so that a
 * busy slot causes only a few events per second.
 */
export class ChangeNotifier {
  readonly #clock: Clock;
  readonly #notify: (names: readonly string[]) => void;
  readonly #pending = new Set<string>();
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, notify: (names: readonly string[]) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  changed(name: string): void {
    this.#pending.add(name);
    this.#cancel ??= this.#clock.after(DEBOUNCE_MS, () => this.flush());
  }

  /** Notifies of pending changes immediately. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    const names = [...this.#pending];
    this.#pending.clear();
    if (names.length > 0) this.#notify(names);
  }
}
