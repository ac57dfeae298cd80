/** Room for one line that has not ended yet, in UTF-16 units; what comes after it is cut until the line ends. */
const LINE_MAX = 2_000;

/**
 * The last lines of a stream of bytes, bounded in number and length whatever is written: binary, 10 MB lines or
 * 100 MB/s. Control characters but tab are replaced, so that a line can be shown anywhere.
 */
export class LineRing {
  readonly #keep: number;
  readonly #lineMax: number;
  readonly #lines: string[] = [];
  readonly #decoder = new TextDecoder('utf-8');
  #next = 0;
  #open = '';

  constructor(keep: number, lineMax = LINE_MAX) {
    this.#keep = keep;
    this.#lineMax = lineMax;
  }

  /** Takes the next bytes and answers the lines they complete (at most as many as the ring keeps), cleaned and cut. */
  push(chunk: Uint8Array): string[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const done: string[] = [];
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = this.#take(text.slice(from, Math.min(end, from + this.#lineMax)));
      done.push(line);
      if (done.length > this.#keep) done.shift();
      from = end + 1;
    }
    this.#append(text.slice(from, from + this.#lineMax));
    return done;
  }

  /** Ends an open last line; answers it, or null when there is none. */
  end(): string | null {
    return this.#open === '' ? null : this.#take('');
  }

  /** The kept lines, oldest first; `most` bounds their number. */
  lines(most = this.#keep): string[] {
    const ordered = [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)];
    return ordered.slice(Math.max(0, ordered.length - most));
  }

  #append(text: string): void {
    if (this.#open.length < this.#lineMax) this.#open += text.slice(0, this.#lineMax - this.#open.length);
  }

  #take(rest: string): string {
    this.#append(rest);
    const line = this.#open.replace(/\r$/, '').replace(/[\0-\x08\x0b-\x1f\x7f]/g, '\ufffd');
    this.#open = '';
    this.#lines[this.#next] = line;
    this.#next = (this.#next + 1) % this.#keep;
    return line;
  }
}
