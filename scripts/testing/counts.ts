/** The counts of one suite. Times are seconds from the start of its first file to the end of its last. */
export interface SuiteCounts {
  readonly name: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  readonly name: string;
  /** Message, difference and stack, without colours. */
  readonly text: string;
}

/** What one run of a test runner leaves for `npm test`. */
export interface SuiteReport {
  readonly suites: readonly SuiteCounts[];
  /** Errors that belong to no test. Each counts as one failure. */
  readonly outside: number;
  readonly failures: readonly Failure[];
}

/** Counts the tests of one suite and measures from its first file to its last. */
export class Counts {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly name: string;
  readonly #now: () => number;
  #began: number | null = null;
  #ended = 0;

  constructor(name: string, now: () => number = Date.now) {
    this.name = name;
    this.#now = now;
  }

  begin(): void {
    this.#began ??= this.#now();
  }

  end(): void {
    this.#ended = this.#now();
  }

  json(): SuiteCounts {
    const { name, passed, failed, skipped } = this;
    const ms = this.#began === null ? 0 : this.#ended - this.#began;
    return { name, seconds: Math.round(ms / 100) / 10, passed, failed, skipped };
  }

  line(): string {
    const { name, seconds, passed, failed, skipped } = this.json();
    return `${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${passed} passed, ${failed} failed, ${skipped} skipped`;
  }
}
