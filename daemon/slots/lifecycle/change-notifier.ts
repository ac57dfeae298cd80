import type { Clock } from './clock.ts';

/** Changes of one slot within this time become one event. */
const DEBOUNCE_MS = 100;

/** Gathers changes by name and tells each name once, all at once, so that a busy slot costs a few events a second. */
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

  /** Tells at once what is still to be told. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    const names = [...this.#pending];
    this.#pending.clear();
    if (names.length > 0) this.#notify(names);
  }
}
