/**
 * Maximum bytes of the headers of one part, and maximum parts of one form. A form above these limits is
 * treated as malformed.
 */
const MAX_PART_HEADER_BYTES = 8 * 1024;
const MAX_PARTS = 64;
const HEADER_END = Buffer.from('\r\n\r\n');
/** The end of the headers is also the line end before a delimiter that follows directly. */
const LINE_END = Buffer.from('\r\n');

/** Receives the content of a form in the order of its bytes. */
export interface FormListener {
  /** The headers of a part, with names in lower case. */
  part(head: ReadonlyMap<string, string>): void;
  /** Bytes of the part. Never empty. */
  data(bytes: Buffer): void;
  /** The part is complete. */
  end(): void;
}

/** Returns the boundary of a `multipart/form-data` type, or null for any other type. */
export function boundaryOf(contentType: string): string | null {
  const match = /^\s*multipart\/form-data\s*;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType,
  );
  return match?.[1] ?? match?.[2] ?? null;
}

/** Matches one parameter of a header value where the previous one ended. */
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))\s*/y;

/** Returns the `name` of a part, and its `filename` if it is a file. */
export function dispositionOf(head: ReadonlyMap<string, string>): {
  name: string | null;
  filename: string | null;
} {
  const line = head.get('content-disposition') ?? '';
  const found = new Map<string, string>();
  PARAMETER.lastIndex = Math.max(0, line.indexOf(';'));
  for (let match = PARAMETER.exec(line); match !== null; match = PARAMETER.exec(line)) {
    const key = (match[1] ?? '').toLowerCase();
    if (!found.has(key)) found.set(key, match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '');
  }
  return { name: found.get('name') ?? null, filename: found.get('filename') ?? null };
}

type State = 'preamble' | 'head' | 'body' | 'over';

/**
 * Parses a form while its bytes pass through, for any chunk boundaries. Buffers only the headers of a part
 * and the few bytes that may start a delimiter. Stops calling the listener when the form is truncated or
 * exceeds the limits.
 */
export class MultipartScanner {
  readonly #delimiter: Buffer;
  readonly #listener: FormListener;
  #state: State = 'preamble';
  #buffer: Buffer;
  /** Leading bytes of `#buffer` that belong to the headers and are not data. */
  #prefixBytes = 0;
  #parts = 0;

  constructor(boundary: string, listener: FormListener) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#listener = listener;
    // The first delimiter does not need a line before it.
    this.#buffer = LINE_END;
  }

  /** Whether further bytes cannot produce any output. */
  get isDone(): boolean {
    return this.#state === 'over';
  }

  push(chunk: Buffer): void {
    if (this.#state === 'over') return;
    if (this.#state === 'body') this.#flushBuffer(chunk);
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.#step());
    // A copy, even of zero bytes: the chunk may be detached, after which no view of it can be read.
    this.#buffer = Buffer.from(this.#buffer);
  }

  /**
   * Emits the buffered bytes of a part if no delimiter starts in them, so that the bytes of a long part are
   * not copied.
   */
  #flushBuffer(chunk: Buffer): void {
    const seam = Buffer.concat([this.#buffer, chunk.subarray(0, this.#delimiter.length - 1)]);
    if (
      seam.length > this.#buffer.length &&
      chunk.length >= this.#delimiter.length &&
      !seam.includes(this.#delimiter)
    )
      this.#emit(this.#buffer.length);
  }

  /** Performs one step. Returns false when it needs more bytes. */
  #step(): boolean {
    if (this.#state === 'preamble') return this.#seek();
    if (this.#state === 'head') return this.#head();
    return this.#state === 'body' && this.#body();
  }

  #seek(): boolean {
    const at = this.#buffer.indexOf(this.#delimiter);
    if (at >= 0) return this.#enter('head', at + this.#delimiter.length);
    this.#drop(this.#buffer.length - this.#delimiter.length + 1);
    return false;
  }

  #head(): boolean {
    if (this.#buffer.length < 2) return false;
    const last = this.#buffer[0] === 0x2d && this.#buffer[1] === 0x2d;
    const end = this.#buffer.indexOf(HEADER_END);
    if (
      last ||
      end > MAX_PART_HEADER_BYTES ||
      (end < 0 && this.#buffer.length > MAX_PART_HEADER_BYTES) ||
      this.#parts >= MAX_PARTS
    )
      return this.#finish();
    if (end < 0) return false;
    this.#parts += 1;
    this.#listener.part(headersOf(this.#buffer.toString('utf8', 0, end)));
    this.#prefixBytes = LINE_END.length;
    return this.#enter('body', end + HEADER_END.length - LINE_END.length);
  }

  #body(): boolean {
    const at = this.#buffer.indexOf(this.#delimiter);
    if (at < 0) {
      this.#emit(this.#buffer.length - this.#partialDelimiterLength());
      return false;
    }
    this.#emit(at);
    this.#listener.end();
    return this.#enter('head', this.#delimiter.length);
  }

  /**
   * Returns the number of bytes at the end that may start a delimiter. A delimiter contains only the line end
   * that it starts with.
   */
  #partialDelimiterLength(): number {
    const tail = this.#buffer.subarray(Math.max(0, this.#buffer.length - this.#delimiter.length + 1));
    const at = tail.lastIndexOf(0x0d);
    if (at < 0) return 0;
    const candidate = tail.subarray(at);
    return this.#delimiter.subarray(0, candidate.length).equals(candidate) ? candidate.length : 0;
  }

  /** Passes the first `length` buffered bytes to the listener, without those that belong to the headers. */
  #emit(length: number): void {
    if (length <= 0) return;
    const data = this.#buffer.subarray(Math.min(this.#prefixBytes, length), length);
    this.#prefixBytes = Math.max(0, this.#prefixBytes - length);
    if (data.length > 0) this.#listener.data(data);
    this.#drop(length);
  }

  #drop(length: number): void {
    if (length > 0) this.#buffer = this.#buffer.subarray(length);
  }

  #enter(state: State, drop: number): boolean {
    this.#drop(drop);
    this.#state = state;
    return true;
  }

  #finish(): boolean {
    this.#state = 'over';
    this.#buffer = Buffer.alloc(0);
    return false;
  }
}

function headersOf(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => /^([^:\s]+)\s*:\s*(.*)$/.exec(line));
  return new Map(
    lines.flatMap((match) => (match ? [[(match[1] ?? '').toLowerCase(), (match[2] ?? '').trim()]] : [])),
  );
}
