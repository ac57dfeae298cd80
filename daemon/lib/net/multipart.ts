/** Bytes of the head of one part, and parts of one form; more makes the form a broken one. */
const MAX_PART_HEADER_BYTES = 8 * 1024;
const MAX_PARTS = 64;
const HEADER_END = Buffer.from('\r\n\r\n');
/** The end of a head is also the line end before a delimiter that follows at once. */
const LINE_END = Buffer.from('\r\n');

/** What a form says, in the order of its bytes. */
export interface FormListener {
  /** The head of a part: names in lower case. */
  part(head: ReadonlyMap<string, string>): void;
  /** Bytes of the part; never empty. */
  data(bytes: Buffer): void;
  /** The part is whole. */
  end(): void;
}

/** The boundary of a `multipart/form-data` type; null for any other type. */
export function boundaryOf(contentType: string): string | null {
  const match = /^\s*multipart\/form-data\s*;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType,
  );
  return match?.[1] ?? match?.[2] ?? null;
}

/** One parameter of a header value, at the place where the one before it ended. */
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))\s*/y;

/** The `name` of a part, and its `filename` when it is a file. */
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
 * Reads a form as its bytes pass by, whatever the chunks: nothing of a part is kept but its head and the few bytes that
 * may begin a delimiter. A form that breaks off or exceeds the limits just says no more.
 */
export class MultipartScanner {
  readonly #delimiter: Buffer;
  readonly #listener: FormListener;
  #state: State = 'preamble';
  #buffer: Buffer;
  /** Leading bytes of `#held` that belong to the head and are no data. */
  #prefixBytes = 0;
  #parts = 0;

  constructor(boundary: string, listener: FormListener) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#listener = listener;
    // The first delimiter needs no line before it.
    this.#buffer = LINE_END;
  }

  /** Whether more bytes can say anything. */
  get isDone(): boolean {
    return this.#state === 'over';
  }

  push(chunk: Buffer): void {
    if (this.#state === 'over') return;
    if (this.#state === 'body') this.#flushBuffer(chunk);
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.#step());
    // A copy, also of nothing: the chunk may be let go, and then no part of it can be looked at.
    this.#buffer = Buffer.from(this.#buffer);
  }

  /** Gives away what is held of a part once no delimiter begins in it, so that the bytes of a long part are not copied. */
  #flushBuffer(chunk: Buffer): void {
    const seam = Buffer.concat([this.#buffer, chunk.subarray(0, this.#delimiter.length - 1)]);
    if (
      seam.length > this.#buffer.length &&
      chunk.length >= this.#delimiter.length &&
      !seam.includes(this.#delimiter)
    )
      this.#emit(this.#buffer.length);
  }

  /** One step; false when more bytes are needed. */
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

  /** Bytes at the end that may begin a delimiter, which has no other line end than the one it begins with. */
  #partialDelimiterLength(): number {
    const tail = this.#buffer.subarray(Math.max(0, this.#buffer.length - this.#delimiter.length + 1));
    const at = tail.lastIndexOf(0x0d);
    if (at < 0) return 0;
    const candidate = tail.subarray(at);
    return this.#delimiter.subarray(0, candidate.length).equals(candidate) ? candidate.length : 0;
  }

  /** Gives the first `length` held bytes to the listener, without those that are borrowed. */
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
