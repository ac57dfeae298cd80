import type { ResponseCheck } from '../transform-response.ts';
import type { EmbeddingRequest } from './embedding-request.ts';

/**
 * The start of a vector with its first byte: a number, or a character of base64. The white space is bounded so
 * that a match cannot be longer than `MAX_START`.
 */
const VECTOR_START = /"embedding"\s{0,32}:\s{0,32}(?:(\[)\s{0,32}(?=[-\d])|"(?=[^"]))/;
const MAX_START = 128;
/** Bytes outside the vectors that are read at a time. Most of the text between two vectors fits. */
const STEP = 128;
/** Maximum bytes outside the vectors. A response with more is converted, which has its own limit. */
const MAX_OTHER_BYTES = 16 * 1024;
const MAX_ROW_BYTES = 256;

const LATIN_I = 0x49;
const LATIN_N = 0x4e;

/** Stands for the elements of a vector in the outline. */
const ELEMENT = '0';

type Wanted = Pick<EmbeddingRequest, 'format' | 'count'>;
type Json = Record<string, unknown>;

/**
 * Decides whether a response to an embeddings request can be sent unchanged. Skips the vectors with a native
 * search and parses only the rest, the outline. Of a vector it checks that it has the requested format, is not
 * empty, and has no `NaN` or `Infinity`, which are not JSON.
 */
export class ResponseOutline implements ResponseCheck {
  readonly #wanted: Wanted;
  /** The response so far; each vector is reduced to one element. */
  readonly #parts: string[] = [];
  #bytes = 0;
  /** The end of the outline, in which a vector may start. */
  #pending = '';
  #vectors = 0;
  #inVector = false;
  #failed = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#failed)
      at = this.#inVector ? this.#skip(chunk, at) : this.#read(chunk, at);
  }

  /** Returns whether all vectors so far have the requested format. */
  startsUnchanged(): boolean {
    return this.#vectors > 0 && !this.#failed;
  }

  /** Returns whether the whole response is what the gateway would send. */
  isUnchanged(): boolean {
    if (this.#failed || this.#inVector) return false;
    return isOpenAiList(parsed(this.#parts.join('') + this.#pending), this.#wanted);
  }

  /** Skips to the end of the vector. Returns the offset of its closing bracket or quotation mark. */
  #skip(chunk: Buffer, from: number): number {
    const floats = this.#wanted.format === 'float';
    const found = chunk.indexOf(floats ? ']' : '"', from);
    const end = found < 0 ? chunk.length : found;
    if (floats && hasNonFinite(chunk.subarray(from, end))) this.#failed = true;
    this.#inVector = found < 0;
    return end;
  }

  /** Adds bytes outside the vectors to the outline. Returns the offset of the first byte that was not added. */
  #read(chunk: Buffer, from: number): number {
    const end = Math.min(from + STEP, chunk.length);
    this.#pending += chunk.toString('latin1', from, end);
    const start = VECTOR_START.exec(this.#pending);
    if (start === null) {
      this.#keep(Math.max(0, this.#pending.length - MAX_START));
      return end;
    }
    const length = start.index + start[0].length;
    // The first byte of the vector is new, so all bytes after the match are of this chunk.
    const next = end - (this.#pending.length - length);
    this.#keep(length);
    this.#startVector(start[1] === undefined ? 'base64' : 'float');
    return next;
  }

  /** Moves the first `length` characters out of the part in which a vector may start. */
  #keep(length: number): void {
    this.#parts.push(this.#pending.slice(0, length));
    this.#pending = this.#pending.slice(length);
    this.#bytes += length;
    if (this.#bytes > MAX_OTHER_BYTES + this.#wanted.count * MAX_ROW_BYTES) this.#failed = true;
  }

  #startVector(format: EmbeddingRequest['format']): void {
    this.#parts.push(ELEMENT);
    this.#pending = '';
    this.#inVector = true;
    this.#vectors++;
    if (format !== this.#wanted.format) this.#failed = true;
  }
}

const hasNonFinite = (vector: Buffer): boolean => vector.includes(LATIN_N) || vector.includes(LATIN_I);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns whether a response has all that `transformEmbeddings` would add, and its vectors are in order. */
function isOpenAiList(body: unknown, { format, count }: Wanted): boolean {
  if (!isObject(body) || body.object !== 'list' || typeof body.model !== 'string') return false;
  const { data, usage } = body;
  if (!isObject(usage) || !isNumber(usage.prompt_tokens) || !isNumber(usage.total_tokens)) return false;
  if (!Array.isArray(data) || data.length !== count) return false;
  return data.every(
    (row: unknown, at) =>
      isObject(row) &&
      row.object === 'embedding' &&
      row.index === at &&
      (format === 'base64' ? row.embedding === ELEMENT : isElementList(row.embedding)),
  );
}

const isElementList = (vector: unknown): boolean =>
  Array.isArray(vector) && vector.length === 1 && String(vector[0]) === ELEMENT;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNumber = (value: unknown): boolean => typeof value === 'number';
