import { GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import { baseCode, describeError, isDamage, isTransient } from './sqlite-errors.ts';

/** After a failed write no further one is tried in the background for this long: each try may wait for a lock. */
const PAUSE_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const RETRY_AFTER_S = 5;

/** What is wrong now and what has been lost since the start. */
export interface WriteHealthState {
  /** A clause for people when the surroundings of the latest read or write made it fail; null when all is well. */
  readonly failing: string | null;
  /** The file was found damaged while running; only a restart cures it. */
  readonly damaged: boolean;
  /** Writes and reads that failed since the start. */
  readonly failures: number;
  /** Rows that were given up since the start. */
  readonly dropped: number;
}

/** Every access goes through here: failures are counted, logged at most once a minute, and never surprise a caller. */
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

  /** `now`: monotonic milliseconds. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Whether background writes wait at the moment. */
  isPaused(): boolean {
    return this.#now() < this.#pausedUntil;
  }

  /** Lets background writes be tried at once. */
  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
  }

  /** A write that the caller does not depend on: answers the error instead of throwing it, undefined after success. */
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

  /** A write that the caller depends on; throws GatewayError `store.unavailable` when the database fails. */
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

  /** A read that the caller depends on; throws GatewayError `store.unavailable` when the database fails. */
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

  /** Counts rows that are given up. */
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
