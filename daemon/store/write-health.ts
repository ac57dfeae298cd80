import { GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import { baseCode, describeError, isDamage, isTransient } from './sqlite-errors.ts';

/** After a failed write, background writes pause for this long, because each attempt may wait for a lock. */
const PAUSE_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const RETRY_AFTER_S = 5;

/** Current faults, and what was lost since the start. */
export interface WriteHealthState {
  /** Description of the fault when the latest read or write failed because of the environment. Otherwise null. */
  readonly failing: string | null;
  /** The file was found damaged while running. Only a restart fixes it. */
  readonly damaged: boolean;
  /** Failed writes and reads since the start. */
  readonly failures: number;
  /** Rows dropped since the start. */
  readonly dropped: number;
}

/**
 * Wraps every access to the database. Counts failures, logs them at most once a minute, and converts them to
 * the errors that callers expect.
 */
export class WriteHealth {
  readonly #log: Log;
  readonly #now: () => number;
  #writeFault: string | null = null;
  #readFault: string | null = null;
  #damaged = false;
  #failures = 0;
  #dropped = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #nextLogAt = Number.NEGATIVE_INFINITY;

  /** `now` returns monotonic milliseconds. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Returns whether background writes are paused. */
  isPaused(): boolean {
    return this.#now() < this.#pausedUntil;
  }

  /** Ends the pause of background writes. */
  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
  }

  /**
   * Performs a write that the caller does not depend on. Returns the error instead of throwing it, or
   * undefined on success.
   */
  attempt(what: string, work: () => void): unknown {
    try {
      work();
    } catch (error) {
      this.#record(what, error);
      if (isTransient(error)) {
        this.#pausedUntil = this.#now() + PAUSE_MS;
        this.#writeFault = describeError(error);
      }
      return error;
    }
    this.#recovered();
    return undefined;
  }

  /**
   * Performs a write that the caller depends on. Throws GatewayError `store.unavailable` when the database
   * fails.
   */
  write<T>(what: string, work: () => T): T {
    try {
      const result = work();
      this.#recovered();
      return result;
    } catch (error) {
      this.#record(what, error);
      if (isTransient(error)) this.#writeFault = describeError(error);
      throw this.#unavailable(error);
    }
  }

  /**
   * Performs a read that the caller depends on. Throws GatewayError `store.unavailable` when the database
   * fails.
   */
  read<T>(what: string, work: () => T): T {
    try {
      const result = work();
      this.#readFault = null;
      return result;
    } catch (error) {
      this.#record(what, error);
      if (isTransient(error)) this.#readFault = describeError(error);
      throw this.#unavailable(error);
    }
  }

  /** Counts dropped rows. */
  drop(rows: number): void {
    this.#dropped += rows;
  }

  state(): WriteHealthState {
    return {
      failing: this.#writeFault ?? this.#readFault,
      damaged: this.#damaged,
      failures: this.#failures,
      dropped: this.#dropped,
    };
  }

  #recovered(): void {
    this.#writeFault = null;
    this.resume();
  }

  #record(what: string, error: unknown): void {
    this.#failures += 1;
    this.#damaged ||= isDamage(error);
    const now = this.#now();
    if (now >= this.#nextLogAt) {
      this.#nextLogAt = now + LOG_EVERY_MS;
      const counts = { failures: this.#failures, dropped: this.#dropped };
      this.#log.error({ err: error, what, ...counts }, `database: ${describeError(error)}`);
    }
  }

  #unavailable(error: unknown): unknown {
    if (baseCode(error) === null) return error;
    const passing = baseCode(error) === 'SQLITE_BUSY';
    return new GatewayError('store.unavailable', {
      cause: error,
      ...(passing ? { retryAfterS: RETRY_AFTER_S } : { noRetry: true }),
    });
  }
}
