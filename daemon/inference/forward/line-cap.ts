/**
 * Maximum line length of an event stream or NDJSON. One event with an image or a minute of audio in Base64
 * has about 20 MiB.
 */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
/** Types whose readers buffer whole lines. */
const IN_LINES = /^\s*(text\/event-stream|application\/(x-ndjson|ndjson|jsonl|x-jsonlines))\b/i;

/** Returns whether a response of this type is read line by line. */
export const isLineBased = (contentType: string | undefined): boolean =>
  contentType !== undefined && IN_LINES.test(contentType);

/** Counts the bytes since the last line end. Searches only the end of each chunk. */
export class LineCap {
  readonly #maxBytes: number;
  #lineBytes = 0;

  constructor(most = MAX_LINE_BYTES) {
    this.#maxBytes = most;
  }

  /**
   * Returns whether the line that is open after this chunk, and every line that ends in it, is within the
   * limit.
   */
  accepts(chunk: Buffer): boolean {
    const end = lastEnd(chunk);
    if (end < 0) {
      this.#lineBytes += chunk.length;
      return this.#lineBytes <= this.#maxBytes;
    }
    // A chunk is far shorter than any limit, so only the line that was open before it can be too long.
    const within =
      this.#lineBytes + chunk.length <= this.#maxBytes || this.#lineBytes + firstEnd(chunk) <= this.#maxBytes;
    this.#lineBytes = chunk.length - end - 1;
    return within;
  }
}

/** Lines end in LF, CR LF or CR (WHATWG HTML 9.2.6). CR alone is rare. */
function lastEnd(chunk: Buffer): number {
  const at = chunk.lastIndexOf(LF);
  return at >= 0 ? at : chunk.lastIndexOf(CR);
}

function firstEnd(chunk: Buffer): number {
  const [lf, cr] = [chunk.indexOf(LF), chunk.indexOf(CR)];
  return Math.min(lf < 0 ? chunk.length : lf, cr < 0 ? chunk.length : cr);
}
