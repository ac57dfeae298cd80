import { isTransient } from './sqlite-errors.ts';
import type { WriteHealth } from './write-health.ts';

export interface WriteQueueOptions<Row> {
  faults: WriteHealth;
  /** Name in the log when a write fails. */
  what: string;
  /** Maximum queued rows. Above it, the oldest are dropped and counted. */
  limit: number;
  /** Maximum rows per transaction. A transaction blocks the event loop. */
  batch: number;
  /** Writes the rows in one transaction, all or none. */
  write: (rows: readonly Row[]) => void;
  /** Called before each flush. Returns true to keep the rows queued. */
  paused?: () => boolean;
}

/**
 * A write-behind queue for rows whose failure must not reach a caller. Rows wait in memory, in order, and
 * failed writes are retried.
 */
export class WriteQueue<Row> {
  readonly #options: WriteQueueOptions<Row>;
  #rows: Row[] = [];

  constructor(options: WriteQueueOptions<Row>) {
    this.#options = options;
  }

  /** Returns the queued rows, oldest first. */
  pending(): readonly Row[] {
    return this.#rows;
  }

  /** Queues a row. Never throws and does not access the database. */
  push(row: Row): void {
    this.#rows.push(row);
    const excess = this.#rows.length - this.#options.limit;
    if (excess <= 0) return;
    this.#rows.splice(0, excess);
    this.#options.faults.drop(excess);
  }

  /** Writes one batch. Returns true when the queue is empty. Never throws. */
  flush(): boolean {
    const { faults, batch, paused } = this.#options;
    if (this.#rows.length === 0) return true;
    if (faults.isPaused() || paused?.() === true) return false;
    const rows = this.#rows.slice(0, batch);
    const error = this.#write(rows);
    if (error !== undefined && isTransient(error)) return false;
    this.#rows.splice(0, rows.length);
    if (error !== undefined) this.#writeOneByOne(rows);
    return this.#rows.length === 0;
  }

  /**
   * Writes all queued rows in batches. Retries a failed batch once, because the fault may have passed.
   * Returns the number of rows that remain.
   */
  drain(): number {
    for (let failed = 0; this.#rows.length > 0 && failed < 2; ) {
      const before = this.#rows.length;
      this.#options.faults.resume();
      this.flush();
      if (this.#rows.length === before) failed += 1;
    }
    return this.#rows.length;
  }

  #write(rows: readonly Row[]): unknown {
    return this.#options.faults.attempt(this.#options.what, () => this.#options.write(rows));
  }

  /** Writes rows individually after an invalid row failed a batch. Drops only the invalid one. */
  #writeOneByOne(rows: readonly Row[]): void {
    for (const row of rows) if (this.#write([row]) !== undefined) this.#options.faults.drop(1);
  }
}
