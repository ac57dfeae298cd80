/** How a call to an upstream failed: it was unreachable, or it responded badly or too late. */
export type FailureKind = 'unreachable' | 'failing';

/**
 * Consecutive failures that open the breaker. An unreachable upstream counts more, because it costs its
 * callers time.
 */
const MAX_FAILURES = 5;
const WEIGHT: Readonly<Record<FailureKind, number>> = { unreachable: 3, failing: 1 };
/** First and maximum pause; doubled after each failed trial. Milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** The permission for one call. Its identity tells which call is the trial. */
export interface Pass {
  readonly trial: boolean;
}

/**
 * The circuit breaker of one upstream: closed until too many consecutive failures, then open for a pause with exponential backoff,
 * then one trial at a time until one succeeds. Uses the given monotonic milliseconds; has no timers.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  #failures = 0;
  /** Whether the last result was a failure. */
  #failed = false;
  #pauseMs = FIRST_PAUSE_MS;
  /** Time of the next trial; null while closed. */
  #openUntil: number | null = null;
  /** The call that tries; null while none does. */
  #trial: Pass | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the last call succeeded, none was made, or a small request succeeded since. */
  get isHealthy(): boolean {
    return !this.#failed;
  }

  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Milliseconds until a call is permitted; 0 when one is permitted now. */
  get waitMs(): number {
    if (this.#openUntil === null) return 0;
    const rest = Math.max(0, this.#openUntil - this.#now());
    return this.#trial !== null ? Math.max(rest, 1) : rest;
  }

  /**
   * Returns a pass for one call, or null. While open, only one pass at a time is given; that call is the
   * trial.
   */
  admit(): Pass | null {
    if (this.waitMs > 0) return null;
    const pass = { trial: this.isOpen };
    if (pass.trial) this.#trial = pass;
    return pass;
  }

  /** A response has started, however long it takes. Other calls need not wait for its end. */
  recordResponseStart(): void {
    if (this.isOpen) this.recordReachable();
  }

  /** Records a successful call. */
  recordSuccess(): void {
    this.#failures = 0;
    this.#failed = false;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#openUntil = null;
    this.#trial = null;
  }

  /** A call without information about the upstream: its caller disconnected, or it was never sent. */
  recordNeutral(pass: Pass | null): void {
    this.#endTrial(pass);
  }

  /** A call failed; `pass` is null for a call without one. */
  recordFailure(kind: FailureKind, pass: Pass | null): void {
    this.#failures = Math.min(MAX_FAILURES, this.#failures + WEIGHT[kind]);
    this.#failed = true;
    const failedTrial = this.#endTrial(pass);
    if (this.#openUntil !== null && !failedTrial) return;
    if (this.#failures < MAX_FAILURES) return;
    this.#openUntil = this.#now() + this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
  }

  /** Ends the trial if this call is it. Returns whether it was. */
  #endTrial(pass: Pass | null): boolean {
    if (pass === null || pass !== this.#trial) return false;
    this.#trial = null;
    return true;
  }

  /**
   * A small request succeeded: calls are permitted again, and one failure reopens the breaker. Once closed,
   * bad responses still count as consecutive failures: an engine may hang while its list is served.
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
