import { isTransient } from './sqlite-errors.ts';
import type { WriteHealth } from './write-health.ts';

export interface WriteQueueOptions<Row> {
  faults: WriteHealth;
  /** Named in the log when a write fails. */
  what: string;
  /** Rows that wait at most; beyond it the oldest are given up and counted. */
  limit: number;
  /** Rows in one transaction at most: a transaction stops the event loop while it runs. */
  batch: number;
  /** Writes the rows in one transaction, all or none. */
  write: (rows: readonly Row[]) => void;
  /** Asked before each flush; true lets the rows wait. */
  paused?: () => boolean;
}

/** Rows on their way to the database whose failure must not reach a caller: they wait in memory, in order, and are tried again. */
export class WriteQueue<Row> {
  readonly #options: WriteQueueOptions<Row>;
  #rows: Row[] = [];

  constructor(options: WriteQueueOptions<Row>) {
    this.#options = options;
  }

  /** The rows that wait, oldest first. */
  pending(): readonly Row[] {
    return this.#rows;
  }

  /** Queues a row; never throws, never touches the database. */
  push(row: Row): void {
    this.#rows.push(row);
    const excess = this.#rows.length - this.#options.limit;
    if (excess <= 0) return;
    this.#rows.splice(0, excess);
    this.#options.faults.drop(excess);
  }

  /** Writes one batch. Answers true when nothing waits any more; never throws. */
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
   * Writes all that waits, batch by batch; one that fails gets a second try at once, because the fault may have passed. Answers how
   * many rows still wait then.
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

  /** One row of a batch does not fit its table: only that one is given up. */
  #writeOneByOne(rows: readonly Row[]): void {
    for (const row of rows) if (this.#write([row]) !== undefined) this.#options.faults.drop(1);
  }
}
