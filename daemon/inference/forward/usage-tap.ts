import type { Range } from '../../lib/json/byte-scanner.ts';
import type { Usage } from '../../telemetry/request-tracker.ts';
import { speedOf } from './speed.ts';

/** Bytes of the end of a response that are kept. */
const TAIL_BYTES = 4096;
/** Bytes of the beginning that are kept once the response is longer than the kept end. */
const HEAD_BYTES = 1024;
const NOTHING = Buffer.alloc(0);

export const NO_USAGE: Usage = { promptTokens: null, completionTokens: null, tokensPerSecond: null };

/** A chunk up to this size, such as a token, is copied. A longer one is held by reference. */
const MAX_COPIED_BYTES = 1024;
/** Size of the copy block: the kept end, and space for the bytes since the last compaction. */
const BLOCK_BYTES = TAIL_BYTES + MAX_COPIED_BYTES;

/** Held bytes: the first `length` of `bytes`, which is a chunk or the tap's own block. */
interface HeldChunk {
  readonly bytes: Buffer;
  length: number;
  readonly isBlock: boolean;
}

const usedBytes = ({ bytes, length }: HeldChunk): Buffer =>
  length === bytes.length ? bytes : bytes.subarray(0, length);

/**
 * Keeps the last 4 KiB of a response and, except for event streams, a copy of the first KiB of a longer one.
 * Reads the token counts from them after the response has ended; parses nothing while bytes flow. Copies
 * small chunks into one block: held by reference, each would survive the young generation, where collecting
 * it costs many times more. With a thousand streams, the taps hold most of the memory.
 */
export class UsageTap {
  readonly #onDropped: ((dropped: Buffer, next: Buffer) => void) | undefined;
  #chunks: HeldChunk[] = [];
  #length = 0;
  #first: Buffer = NOTHING;
  #isStream = false;

  /**
   * `leaving` receives the bytes that are dropped and those that follow them; both are valid only during the
   * call.
   */
  constructor(leaving?: (dropped: Buffer, next: Buffer) => void) {
    this.#onDropped = leaving;
  }

  /** Marks the response as an event stream, whose first events contain no counts. */
  markStream(): void {
    this.#isStream = true;
  }

  push(chunk: Buffer): void {
    // A response of a single chunk is never copied.
    if (chunk.length <= MAX_COPIED_BYTES && this.#chunks.length > 0) this.#copy(chunk);
    else this.#chunks.push({ bytes: chunk, length: chunk.length, isBlock: false });
    this.#length += chunk.length;
    while (this.#length - (this.#chunks[0] as HeldChunk).length >= TAIL_BYTES) {
      const piece = this.#chunks.shift() as HeldChunk;
      this.#drop(usedBytes(piece), usedBytes(this.#chunks[0] as HeldChunk));
    }
  }

  #copy(chunk: Buffer): void {
    let last = this.#chunks.at(-1) as HeldChunk;
    if (!last.isBlock) {
      last = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), length: 0, isBlock: true };
      this.#chunks.push(last);
    }
    if (last.length + chunk.length > BLOCK_BYTES)
      this.#compact(last, last.length + chunk.length - TAIL_BYTES);
    chunk.copy(last.bytes, last.length);
    last.length += chunk.length;
  }

  /** Drops the first bytes of the block to make space. */
  #compact(block: HeldChunk, bytes: number): void {
    this.#drop(block.bytes.subarray(0, bytes), block.bytes.subarray(bytes, block.length));
    block.bytes.copyWithin(0, bytes, block.length);
    block.length -= bytes;
  }

  #drop(dropped: Buffer, next: Buffer): void {
    this.#length -= dropped.length;
    this.#onDropped?.(dropped, next);
    const headBytesLeft = this.#isStream ? 0 : HEAD_BYTES - this.#first.length;
    if (headBytesLeft > 0) this.#first = Buffer.concat([this.#first, dropped.subarray(0, headBytesLeft)]);
  }

  /** Returns the kept end of the response. */
  tail(): Buffer {
    return this.held().subarray(-TAIL_BYTES);
  }

  /**
   * Returns all bytes that are held, which may start before the kept end: a long last event is complete in
   * it.
   */
  held(): Buffer {
    return this.#chunks.length === 1
      ? usedBytes(this.#chunks[0] as HeldChunk)
      : Buffer.concat(this.#chunks.map(usedBytes));
  }

  /** Returns the kept beginning of the response; empty when the kept end is all of it. */
  #head(): Buffer {
    if (this.#length <= TAIL_BYTES && this.#first.length === 0) return NOTHING;
    return Buffer.concat([this.#first, this.held().subarray(0, HEAD_BYTES - this.#first.length)]);
  }

  /**
   * Returns the token counts of the last `usage` (or llama.cpp `timings`) object; null for values that are
   * missing. A complete response may have them before the text, as Mistral's do; they are then read from its
   * beginning.
   */
  read(): Usage {
    const last = countsIn(this.tail());
    return last ?? (this.#isStream ? null : countsIn(this.#head())) ?? NO_USAGE;
  }
}

/** Returns the counts of the last objects that have any; null when none does. */
function countsIn(bytes: Buffer): Usage | null {
  const text = bytes.toString('latin1');
  const usage = lastObject(text, '"usage"');
  const timings = lastObject(text, '"timings"');
  if (usage === undefined && timings === undefined) return null;
  const completionTokens = count(usage?.completion_tokens) ?? count(timings?.predicted_n);
  const reported = speed(usage?.decoding_speed_tps) ?? speed(timings?.predicted_per_second);
  const cachedTokens = cachedTokensOf(usage) ?? count(timings?.cache_n);
  return {
    promptTokens: count(usage?.prompt_tokens) ?? promptTokensOf(timings),
    completionTokens,
    tokensPerSecond: speedOf(completionTokens, reported),
    ...(cachedTokens === null ? {} : { cachedTokens }),
  };
}

function cachedTokensOf(usage: Record<string, unknown> | undefined): number | null {
  const details = usage?.prompt_tokens_details;
  return typeof details === 'object' && details !== null && 'cached_tokens' in details
    ? count(details.cached_tokens)
    : null;
}

/** Returns the prompt tokens of llama.cpp's timings, which count evaluated and cached tokens separately. */
function promptTokensOf(timings: Record<string, unknown> | undefined): number | null {
  const read = count(timings?.prompt_n);
  return read === null ? null : read + (count(timings?.cache_n) ?? 0);
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const speed = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;

/** Returns the object after the last `"name":` in a text; undefined when no complete one exists. */
function lastObject(text: string, name: string): Record<string, unknown> | undefined {
  for (let at = text.lastIndexOf(name); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(name, at - 1)) {
    const found = objectAfter(text, at + name.length);
    if (found) return parsed(text.slice(found.start, found.end));
  }
  return undefined;
}

/** Returns the range of the object that follows a name and its colon. */
function objectAfter(text: string, from: number): Range | undefined {
  let start = skipSpace(text, from);
  if (text[start] !== ':') return undefined;
  start = skipSpace(text, start + 1);
  if (text[start] !== '{') return undefined;
  const end = closing(text, start);
  return end > 0 ? { start, end } : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r') at++;
  return at;
}

function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
