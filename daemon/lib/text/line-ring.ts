import { LineSplitter, MAX_LINE_LENGTH } from './line-splitter.ts';

/**
 * The last lines of a byte stream, limited in number and length for any input: binary data, 10 MB lines or
 * 100 MB/s.
 */
export class LineRing {
  readonly #capacity: number;
  readonly #splitter: LineSplitter;
  readonly #lines: string[] = [];
  /** When each line was stored, in Unix milliseconds. */
  readonly #times: number[] = [];
  #nextIndex = 0;

  constructor(capacity: number, maxLineLength = MAX_LINE_LENGTH) {
    this.#capacity = capacity;
    this.#splitter = new LineSplitter(maxLineLength);
  }

  /**
   * Adds bytes and returns the lines that they complete (at most as many as the capacity), sanitised and
   * truncated.
   */
  push(chunk: Uint8Array): string[] {
    const done: string[] = [];
    this.#splitter.push(chunk, (line) => {
      this.#store(line);
      done.push(line);
      if (done.length > this.#capacity) done.shift();
    });
    return done;
  }

  /** Completes an unfinished last line and returns it, or null when there is none. */
  end(): string | null {
    const line = this.#splitter.end();
    if (line !== null) this.#store(line);
    return line;
  }

  /** Returns the stored lines, oldest first, at most `limit` of them. */
  lines(limit = this.#capacity): string[] {
    const ordered = this.#ordered(this.#lines);
    return ordered.slice(Math.max(0, ordered.length - limit));
  }

  /** Returns the lines that were stored at or after a time in Unix milliseconds, oldest first. */
  linesSince(time: number): string[] {
    const times = this.#ordered(this.#times);
    const first = times.findIndex((each) => each >= time);
    return first < 0 ? [] : this.#ordered(this.#lines).slice(first);
  }

  #ordered<T>(ring: readonly T[]): T[] {
    return [...ring.slice(this.#nextIndex), ...ring.slice(0, this.#nextIndex)];
  }

  #store(line: string): void {
    this.#lines[this.#nextIndex] = line;
    this.#times[this.#nextIndex] = Date.now();
    this.#nextIndex = (this.#nextIndex + 1) % this.#capacity;
  }
}
