const HEADER = 8;
/** The highest stream number: 0 is standard input, 1 output, 2 error. */
const LAST_STREAM = 2;

/**
 * Parses the log stream of a container: frames of one byte for the stream, three zero bytes, a four-byte
 * big-endian length and the output. A stream without frames is plain output (a container with a terminal) and
 * is returned unchanged. Buffers at most 7 bytes.
 */
export class LogFrames {
  #head: Buffer = Buffer.alloc(0);
  #left = 0;
  #unframed = false;
  #started = false;

  /** Returns the output in these bytes, in order. */
  push(chunk: Buffer): Buffer[] {
    if (this.#unframed) return [chunk];
    const found: Buffer[] = [];
    let rest = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    this.#head = Buffer.alloc(0);
    while (rest.length > 0) {
      if (this.#left === 0) {
        if (rest.length < HEADER) break;
        if (!this.#started && !isFramed(rest)) {
          this.#unframed = true;
          return [...found, rest];
        }
        this.#started = true;
        this.#left = rest.readUInt32BE(4);
        rest = rest.subarray(HEADER);
        continue;
      }
      const part = rest.subarray(0, this.#left);
      this.#left -= part.length;
      rest = rest.subarray(part.length);
      found.push(part);
    }
    this.#head = Buffer.from(rest);
    return found;
  }
}

const isFramed = (bytes: Buffer): boolean =>
  (bytes[0] as number) <= LAST_STREAM && bytes[1] === 0 && bytes[2] === 0 && bytes[3] === 0;
