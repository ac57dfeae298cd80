/** How a call to an upstream went wrong: it was not reached at all, or it answered badly or not in time. */
export type FailureKind = 'unreachable' | 'failing';

/** Failures in a row after which it is left alone; one that was not reached counts more, it costs its callers time. */
const MAX_FAILURES = 5;
const WEIGHT: Readonly<Record<FailureKind, number>> = { unreachable: 3, failing: 1 };
/** How long it is left alone at first, and at most; doubled each time a trial fails. Milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** The right to make one call. Which one it is tells whose trial is under way. */
export interface Pass {
  readonly trial: boolean;
}

/**
 * The circuit breaker of one upstream: closed until it has failed too often in a row, then open for a while, then one
 * trial at a time until one is answered. Works on monotonic milliseconds that are handed in; does nothing by itself.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  #failures = 0;
  /** The last thing that it said was a failure. */
  #failed = false;
  #pauseMs = FIRST_PAUSE_MS;
  /** When the next trial may be made; null while closed. */
  #openUntil: number | null = null;
  /** The call that tries; null while none does. */
  #trial: Pass | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The last call went well, or none was made, or a small question was answered since. */
  get isHealthy(): boolean {
    return !this.#failed;
  }

  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Milliseconds until a call may be made; 0 when one may be made now. */
  get waitMs(): number {
    if (this.#openUntil === null) return 0;
    const rest = Math.max(0, this.#openUntil - this.#now());
    return this.#trial !== null ? Math.max(rest, 1) : rest;
  }

  /** Asks to make a call; null when none may be made. While open it gives one pass at a time: that call is the trial. */
  admit(): Pass | null {
    if (this.waitMs > 0) return null;
    const pass = { trial: this.isOpen };
    if (pass.trial) this.#trial = pass;
    return pass;
  }

  /** A call is being answered, however long that takes: nobody has to wait for its end. */
  recordResponseStart(): void {
    if (this.isOpen) this.recordReachable();
  }

  /** A call went well. */
  recordSuccess(): void {
    this.#failures = 0;
    this.#failed = false;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#openUntil = null;
    this.#trial = null;
  }

  /** A call says nothing about the upstream: its caller left, or it was never sent. */
  recordNeutral(pass: Pass | null): void {
    this.#endTrial(pass);
  }

  /** A call failed; null stands for one that asked for no pass. */
  recordFailure(kind: FailureKind, pass: Pass | null): void {
    this.#failures = Math.min(MAX_FAILURES, this.#failures + WEIGHT[kind]);
    this.#failed = true;
    const failedTrial = this.#endTrial(pass);
    if (this.#openUntil !== null && !failedTrial) return;
    if (this.#failures < MAX_FAILURES) return;
    this.#openUntil = this.#now() + this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
  }

  /** Ends the trial if it is the one of this call, and answers whether it was. */
  #endTrial(pass: Pass | null): boolean {
    if (pass === null || pass !== this.#trial) return false;
    this.#trial = null;
    return true;
  }

  /**
   * A small question was answered: calls may come again, and a single failure of them opens it anew. Once it is closed,
   * bad answers still count as failures in a row: an engine may hang while its list is served.
   */
  recordReachable(): void {
    if (this.#openUntil === null) {
      this.#failed = false;
      if (this.#failures >= WEIGHT.unreachable) this.#failures = 0;
      return;
    }
    this.#openUntil = null;
    this.#trial = null;
    this.#failures = MAX_FAILURES - 1;
  }
}
