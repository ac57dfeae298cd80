import type { Range } from '../../lib/json/byte-scanner.ts';
import type { Usage } from '../../telemetry/request-tracker.ts';
import { speedOf } from './speed.ts';

/** Bytes of the end of an answer that are kept. */
const TAIL_BYTES = 4096;
/** Bytes of its beginning that are kept once the kept end is all that would be left of it. */
const HEAD_BYTES = 1024;
const NOTHING = Buffer.alloc(0);

export const NO_USAGE: Usage = { promptTokens: null, completionTokens: null, tokensPerSecond: null };

/** A chunk up to this many bytes, as tokens are, is copied behind the others; a longer one is held as it is. */
const MAX_COPIED_BYTES = 1024;
/** What a tap copies to: the kept end, and room for what has come since it was last moved to the front. */
const BLOCK_BYTES = TAIL_BYTES + MAX_COPIED_BYTES;

/** Bytes that are held: the first `length` of `bytes`, which is a chunk, or the block of the tap's own. */
interface HeldChunk {
  readonly bytes: Buffer;
  length: number;
  readonly isBlock: boolean;
}

const usedBytes = ({ bytes, length }: HeldChunk): Buffer =>
  length === bytes.length ? bytes : bytes.subarray(0, length);

/**
 * Keeps the last 4 KiB that pass by and, but for event streams, a copy of the first KiB of what is longer; reads the token
 * counts from them once the answer has ended. Nothing is parsed while bytes flow. Small chunks are copied: held, each would
 * outlive the young generation and be cleared away at many times the price. They are copied to one block: of a thousand
 * streams what their taps hold is the most that there is.
 */
export class UsageTap {
  readonly #onDropped: ((gone: Buffer, next: Buffer) => void) | undefined;
  #chunks: HeldChunk[] = [];
  #length = 0;
  #first: Buffer = NOTHING;
  #isStream = false;

  /** `leaving` is told of the bytes that are kept no more, and of those behind them; both hold only meanwhile. */
  constructor(leaving?: (gone: Buffer, next: Buffer) => void) {
    this.#onDropped = leaving;
  }

  /** What follows is an event stream, whose first events know no counts yet. */
  markStream(): void {
    this.#isStream = true;
  }

  push(chunk: Buffer): void {
    // An answer in one piece is never copied.
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

  /** Makes room in a block that is all that is held: its first bytes go. */
  #compact(block: HeldChunk, bytes: number): void {
    this.#drop(block.bytes.subarray(0, bytes), block.bytes.subarray(bytes, block.length));
    block.bytes.copyWithin(0, bytes, block.length);
    block.length -= bytes;
  }

  #drop(gone: Buffer, next: Buffer): void {
    this.#length -= gone.length;
    this.#onDropped?.(gone, next);
    const room = this.#isStream ? 0 : HEAD_BYTES - this.#first.length;
    if (room > 0) this.#first = Buffer.concat([this.#first, gone.subarray(0, room)]);
  }

  /** The kept end of the answer. */
  tail(): Buffer {
    return this.held().subarray(-TAIL_BYTES);
  }

  /** All that is still held, whose beginning may lie before the kept end: a long last event is whole in it. */
  held(): Buffer {
    return this.#chunks.length === 1
      ? usedBytes(this.#chunks[0] as HeldChunk)
      : Buffer.concat(this.#chunks.map(usedBytes));
  }

  /** The kept beginning of the answer, of which what was not let go is still held; empty where the kept end is all of it. */
  #head(): Buffer {
    if (this.#length <= TAIL_BYTES && this.#first.length === 0) return NOTHING;
    return Buffer.concat([this.#first, this.held().subarray(0, HEAD_BYTES - this.#first.length)]);
  }

  /**
   * Token counts from the last `usage` (or llama.cpp's `timings`) object of the end; null for what is not told. A whole
   * answer may tell them before what was said, as Mistral's do: then they stand in its beginning.
   */
  read(): Usage {
    const last = countsIn(this.tail());
    return last ?? (this.#isStream ? null : countsIn(this.#head())) ?? NO_USAGE;
  }
}

/** The counts of the last objects that tell some; null where none does. */
function countsIn(bytes: Buffer): Usage | null {
  const text = bytes.toString('latin1');
  const usage = lastObject(text, '"usage"');
  const timings = lastObject(text, '"timings"');
  if (usage === undefined && timings === undefined) return null;
  const completionTokens = count(usage?.completion_tokens) ?? count(timings?.predicted_n);
  const told = speed(usage?.decoding_speed_tps) ?? speed(timings?.predicted_per_second);
  return {
    promptTokens: count(usage?.prompt_tokens) ?? promptTokensOf(timings),
    completionTokens,
    tokensPerSecond: speedOf(completionTokens, told),
  };
}

/** The tokens of a prompt by llama.cpp's timings, which tell those read anew and those taken from its cache apart. */
function promptTokensOf(timings: Record<string, unknown> | undefined): number | null {
  const read = count(timings?.prompt_n);
  return read === null ? null : read + (count(timings?.cache_n) ?? 0);
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const speed = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;

/** The object after the last `"name":` in a text, or undefined when there is none that is whole. */
function lastObject(text: string, name: string): Record<string, unknown> | undefined {
  for (let at = text.lastIndexOf(name); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(name, at - 1)) {
    const found = objectAfter(text, at + name.length);
    if (found) return parsed(text.slice(found.start, found.end));
  }
  return undefined;
}

/** Where the object lies that stands behind a name and its colon. */
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
