/**
 * How a call failed: the connection did not open, it was lost before a status, it broke after one, the status
 * was bad, or the response was a complete error.
 */
export type FailureKind = 'unreachable' | 'lost' | 'broken' | 'badStatus' | 'error';

export interface FailureRule {
  /** What it counts against: the whole upstream, or one model of it. */
  readonly scope: 'upstream' | 'model';
  /** How much it counts; 0 never opens the breaker. */
  readonly weight: number;
  /** Failures of this kind within `BURST_MS` are one event, for example the end of one replica. */
  readonly mergesBursts: boolean;
}

/** An unreachable upstream counts more, because it costs its callers time. */
export const FAILURES: Readonly<Record<FailureKind, FailureRule>> = {
  unreachable: { scope: 'upstream', weight: 3, mergesBursts: false },
  lost: { scope: 'upstream', weight: 1, mergesBursts: true },
  broken: { scope: 'model', weight: 1, mergesBursts: true },
  badStatus: { scope: 'model', weight: 1, mergesBursts: false },
  error: { scope: 'model', weight: 0, mergesBursts: false },
};

/** Weight of consecutive failures that opens the breaker. */
const MAX_WEIGHT = 5;
/** A single failed connection that a small successful request forgives. */
const UNREACHABLE_WEIGHT = FAILURES.unreachable.weight;
export const BURST_MS = 250;
/** First and maximum pause; doubled after each failed trial. Milliseconds. */
const FIRST_PAUSE_MS = 5_000;
export const MAX_PAUSE_MS = 60_000;
/** Interval of attempts without an alternative, and the maximum random time added to it. Milliseconds. */
const ATTEMPT_INTERVAL_MS = 1_000;
const ATTEMPT_JITTER_MS = 500;

/** The permission for one call. Its identity tells which call is a trial. */
export interface Pass {
  readonly trial: boolean;
}

export interface FailureContext {
  /** One sentence for the refusals. */
  readonly cause?: string;
  /** Other calls of the same upstream are receiving data. */
  readonly isReceiving?: boolean;
}

interface Opening {
  /** Time of the opening, of the last trial, or of its failure. */
  from: number;
  pauseMs: number;
  intervalMs: number;
  readonly trials: WeakSet<Pass>;
  lastTrial: Pass | null;
}

/**
 * One circuit breaker: closed until too many consecutive failures, then open for a pause with exponential backoff,
 * then one trial per pause until one succeeds. Without an alternative it permits about one attempt per second. A
 * trial that hangs does not block the next one. Never open while other calls of the upstream receive data. Uses the
 * given monotonic milliseconds; has no timers.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  readonly #random: () => number;
  #weight = 0;
  #failures = 0;
  #cause: string | null = null;
  /** Time of the last counted failure. */
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Whether the last result was a failure. */
  #failed = false;
  #nextPauseMs = FIRST_PAUSE_MS;
  /** Null while closed. */
  #opening: Opening | null = null;

  constructor(now: () => number, random: () => number = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  /** Whether the last call succeeded, none was made, or a small request succeeded since. */
  get isHealthy(): boolean {
    return !this.#failed;
  }

  get isOpen(): boolean {
    return this.#opening !== null;
  }

  /** Number of counted failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The cause of the last failure; null when none was given. */
  get cause(): string | null {
    return this.#cause;
  }

  /** Milliseconds until a call is permitted where another upstream can serve it; 0 when permitted now. */
  get waitMs(): number {
    return this.waitMsFor(true);
  }

  /** Milliseconds until a call is permitted; 0 when one is permitted now. */
  waitMsFor(hasAlternative: boolean): number {
    if (this.#opening === null) return 0;
    const { from, pauseMs, intervalMs } = this.#opening;
    return Math.max(0, from + (hasAlternative ? pauseMs : intervalMs) - this.#now());
  }

  /** Returns a pass for one call, or null. A call that is permitted while open is a trial. */
  admit(hasAlternative = true): Pass | null {
    if (this.waitMsFor(hasAlternative) > 0) return null;
    const pass = { trial: this.isOpen };
    if (this.#opening === null) return pass;
    this.#opening.trials.add(pass);
    this.#opening.lastTrial = pass;
    this.#restart(this.#opening);
    return pass;
  }

  /** A response has started, however long it takes. Other calls need not wait for its end. */
  recordResponseStart(): void {
    if (this.isOpen) this.recordReachable();
  }

  /** Records a successful call. */
  recordSuccess(): void {
    this.#weight = 0;
    this.#failures = 0;
    this.#cause = null;
    this.#failed = false;
    this.#nextPauseMs = FIRST_PAUSE_MS;
    this.#opening = null;
  }

  /**
   * A call without information: its caller disconnected, it was never sent, or it failed for another reason.
   * After a trial like this the next one is permitted at once.
   */
  recordNeutral(pass: Pass | null): void {
    if (this.#opening === null || pass === null || this.#opening.lastTrial !== pass) return;
    this.#opening.from = Number.NEGATIVE_INFINITY;
  }

  /** A call failed; `pass` is null for a call without one. */
  recordFailure(kind: FailureKind, pass: Pass | null, context: FailureContext = {}): void {
    const { weight, mergesBursts } = FAILURES[kind];
    this.#failed = true;
    this.#cause = context.cause ?? this.#cause;
    if (weight === 0) {
      this.recordNeutral(pass);
      return;
    }
    const isTrial = pass !== null && this.#opening?.trials.has(pass) === true;
    if (mergesBursts && !isTrial && this.#now() - this.#countedAt < BURST_MS) return;
    this.#countedAt = this.#now();
    this.#weight = Math.min(MAX_WEIGHT, this.#weight + weight);
    this.#failures++;
    if (context.isReceiving) this.#opening = null;
    else if (isTrial || (this.#opening === null && this.#weight >= MAX_WEIGHT)) this.#open();
  }

  /**
   * A small request succeeded: calls are permitted again, and one failure reopens the breaker. Once closed,
   * bad responses still count as consecutive failures: an engine may hang while its list is served.
   */
  recordReachable(): void {
    if (this.#opening === null) {
      this.#failed = false;
      if (this.#weight >= UNREACHABLE_WEIGHT) this.#weight = this.#failures = 0;
      return;
    }
    this.#opening = null;
    this.#weight = MAX_WEIGHT - 1;
  }

  #open(): void {
    const pauseMs = this.#nextPauseMs;
    this.#opening = { from: 0, pauseMs, intervalMs: 0, trials: new WeakSet(), lastTrial: null };
    this.#restart(this.#opening);
    this.#nextPauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }

  #restart(opening: Opening): void {
    opening.from = this.#now();
    opening.intervalMs = ATTEMPT_INTERVAL_MS + this.#random() * ATTEMPT_JITTER_MS;
  }
}
