import { LINE_MAX, LineSplitter } from './line-splitter.ts';

/** The last lines of a stream of bytes, bounded in number and length whatever is written: binary, 10 MB lines or 100 MB/s. */
export class LineRing {
  readonly #keep: number;
  readonly #splitter: LineSplitter;
  readonly #lines: string[] = [];
  #next = 0;

  constructor(keep: number, lineMax = LINE_MAX) {
    this.#keep = keep;
    this.#splitter = new LineSplitter(lineMax);
  }

  /** Takes the next bytes and answers the lines they complete (at most as many as the ring keeps), cleaned and cut. */
  push(chunk: Uint8Array): string[] {
    const done: string[] = [];
    this.#splitter.push(chunk, (line) => {
      this.#store(line);
      done.push(line);
      if (done.length > this.#keep) done.shift();
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
  lines(most = this.#keep): string[] {
    const ordered = [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)];
    return ordered.slice(Math.max(0, ordered.length - most));
  }

  #store(line: string): void {
    this.#lines[this.#next] = line;
    this.#next = (this.#next + 1) % this.#keep;
  }
}
