import { LineSplitter, MAX_LINE_LENGTH } from './line-splitter.ts';

/** The last lines of a stream of bytes, bounded in number and length whatever is written: binary, 10 MB lines or 100 MB/s. */
export class LineRing {
  readonly #capacity: number;
  readonly #splitter: LineSplitter;
  readonly #lines: string[] = [];
  #nextIndex = 0;

  constructor(capacity: number, maxLineLength = MAX_LINE_LENGTH) {
    this.#capacity = capacity;
    this.#splitter = new LineSplitter(maxLineLength);
  }

  /** Takes the next bytes and answers the lines they complete (at most as many as the ring keeps), cleaned and cut. */
  push(chunk: Uint8Array): string[] {
    const done: string[] = [];
    this.#splitter.push(chunk, (line) => {
      this.#store(line);
      done.push(line);
      if (done.length > this.#capacity) done.shift();
    });
    return done;
  }

  /** Ends an open last line; answers it, or null when there is none. */
  end(): string | null {
    const line = this.#splitter.end();
    if (line !== null) this.#store(line);
    return line;
  }

  /** The kept lines, oldest first; `most` bounds their number. */
  lines(limit = this.#capacity): string[] {
    const ordered = [...this.#lines.slice(this.#nextIndex), ...this.#lines.slice(0, this.#nextIndex)];
    return ordered.slice(Math.max(0, ordered.length - limit));
  }

  #store(line: string): void {
    this.#lines[this.#nextIndex] = line;
    this.#nextIndex = (this.#nextIndex + 1) % this.#capacity;
  }
}
