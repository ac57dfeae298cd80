/** The newest lines of a log; never more than `most`. */
export class LineBuffer<T> {
  readonly #most: number;
  #lines: { key: number; line: T }[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  push(line: T): void {
    this.#lines.push({ key: this.#next, line });
    this.#next += 1;
    // Cut in pieces, so that a full buffer does not move all its lines for every new one.
    if (this.#lines.length > this.#most * 1.5) this.#lines = this.#lines.slice(-this.#most);
  }

  clear(): void {
    this.#lines = [];
  }

  /** Lines that ever came; what it was before tells how many are new. */
  get came(): number {
    return this.#next;
  }

  /** A copy of the newest lines, each with a number of its own. */
  shown(): readonly { key: number; line: T }[] {
    return this.#lines.slice(-this.#most);
  }
}
