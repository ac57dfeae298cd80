/** The newest lines of a log; never more than `most`. */
export class LineBuffer<T> {
  readonly #most: number;
  #lines: { key: number; line: T }[] = [];
  #next = 0;
  #came = 0;
  /** Lines of before it was cleared that may come again, with how often. */
  #known = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  push(line: T): void {
    if (!this.#comesAgain(line)) this.#came += 1;
    this.#lines.push({ key: this.#next, line });
    this.#next += 1;
    // Cut in pieces, so that a full buffer does not move all its lines for every new one.
    if (this.#lines.length > this.#most * 1.5) this.#lines = this.#lines.slice(-this.#most);
  }

  /** Empties it, for a log that is read from its last lines anew. */
  clear(): void {
    if (this.#lines.length > 0) this.#known = new Map();
    for (const { line } of this.#lines) {
      const text = JSON.stringify(line);
      this.#known.set(text, (this.#known.get(text) ?? 0) + 1);
    }
    this.#lines = [];
  }

  /** Whether it was there before the log was read anew; the first line that was not ends what comes again. */
  #comesAgain(line: T): boolean {
    if (this.#known.size === 0) return false;
    const text = JSON.stringify(line);
    const left = this.#known.get(text) ?? 0;
    if (left === 0) this.#known.clear();
    else this.#known.set(text, left - 1);
    return left > 0;
  }

  /** Lines that ever came, each once; what it was before tells how many are new. */
  get came(): number {
    return this.#came;
  }

  /** A copy of the newest lines, each with a number of its own. */
  shown(): readonly { key: number; line: T }[] {
    return this.#lines.slice(-this.#most);
  }
}
