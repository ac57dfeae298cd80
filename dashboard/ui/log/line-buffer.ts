/** A bounded buffer of the newest lines of a log. */
export class LineBuffer<T> {
  readonly #maxLines: number;
  #lines: { key: number; line: T }[] = [];
  #next = 0;
  #receivedCount = 0;
  /** Lines before the last clear that may be repeated, with their counts. */
  #known = new Map<string, number>();

  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  push(line: T): void {
    if (!this.#isRepeated(line)) this.#receivedCount += 1;
    this.#lines.push({ key: this.#next, line });
    this.#next += 1;
    // Trim in batches, so that a full buffer is not copied for every line.
    if (this.#lines.length > this.#maxLines * 1.5) this.#lines = this.#lines.slice(-this.#maxLines);
  }

  /** Clears the buffer before a log is read again from its last lines. */
  clear(): void {
    if (this.#lines.length > 0) this.#known = new Map();
    for (const { line } of this.#lines) {
      const text = JSON.stringify(line);
      this.#known.set(text, (this.#known.get(text) ?? 0) + 1);
    }
    this.#lines = [];
  }

  /** Whether a line was in the buffer before the last clear. The first new line ends the repetition. */
  #isRepeated(line: T): boolean {
    if (this.#known.size === 0) return false;
    const text = JSON.stringify(line);
    const left = this.#known.get(text) ?? 0;
    if (left === 0) this.#known.clear();
    else this.#known.set(text, left - 1);
    return left > 0;
  }

  /** Total number of lines so far without repetitions; the difference between two values is the number of new lines. */
  get receivedCount(): number {
    return this.#receivedCount;
  }

  /** The newest lines, each with a unique key. */
  shown(): readonly { key: number; line: T }[] {
    return this.#lines.slice(-this.#maxLines);
  }
}
