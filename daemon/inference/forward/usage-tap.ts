import type { Range } from '../../lib/json/byte-scanner.ts';
import type { Usage } from '../../telemetry/request-tracker.ts';
import { speedOf } from './speed.ts';

/** Bytes of the end of an answer that are kept. */
const KEEP = 4096;
/** Bytes of its beginning that are kept once the kept end is all that would be left of it. */
const KEEP_FIRST = 1024;
const NOTHING = Buffer.alloc(0);

export const NO_USAGE: Usage = { promptTokens: null, completionTokens: null, tokensPerSecond: null };

/** A chunk up to this many bytes, as tokens are, is copied behind the others; a longer one is held as it is. */
const SMALL = 1024;
/** What a tap copies to: the kept end, and room for what has come since it was last moved to the front. */
const BLOCK = KEEP + SMALL;

/** Bytes that are held: the first `length` of `bytes`, which is a chunk, or the block of the tap's own. */
interface Piece {
  readonly bytes: Buffer;
  length: number;
  readonly isBlock: boolean;
}

const seen = ({ bytes, length }: Piece): Buffer =>
  length === bytes.length ? bytes : bytes.subarray(0, length);

/**
 * Keeps the last 4 KiB that pass by and, but for event streams, a copy of the first KiB of what is longer; reads the token
 * counts from them once the answer has ended. Nothing is parsed while bytes flow. Small chunks are copied: held, each would
 * outlive the young generation and be cleared away at many times the price. They are copied to one block: of a thousand
 * streams what their taps hold is the most that there is.
 */
export class UsageTap {
  readonly #leaving: ((gone: Buffer, next: Buffer) => void) | undefined;
  #pieces: Piece[] = [];
  #length = 0;
  #first: Buffer = NOTHING;
  #ofStream = false;

  /** `leaving` is told of the bytes that are kept no more, and of those behind them; both hold only meanwhile. */
  constructor(leaving?: (gone: Buffer, next: Buffer) => void) {
    this.#leaving = leaving;
  }

  /** What follows is an event stream, whose first events know no counts yet. */
  ofStream(): void {
    this.#ofStream = true;
  }

  push(chunk: Buffer): void {
    // An answer in one piece is never copied.
    if (chunk.length <= SMALL && this.#pieces.length > 0) this.#copy(chunk);
    else this.#pieces.push({ bytes: chunk, length: chunk.length, isBlock: false });
    this.#length += chunk.length;
    while (this.#length - (this.#pieces[0] as Piece).length >= KEEP) {
      const piece = this.#pieces.shift() as Piece;
      this.#gone(seen(piece), seen(this.#pieces[0] as Piece));
    }
  }

  #copy(chunk: Buffer): void {
    let last = this.#pieces.at(-1) as Piece;
    if (!last.isBlock) {
      last = { bytes: Buffer.allocUnsafeSlow(BLOCK), length: 0, isBlock: true };
      this.#pieces.push(last);
    }
    if (last.length + chunk.length > BLOCK) this.#moveUp(last, last.length + chunk.length - KEEP);
    chunk.copy(last.bytes, last.length);
    last.length += chunk.length;
  }

  /** Makes room in a block that is all that is held: its first bytes go. */
  #moveUp(block: Piece, bytes: number): void {
    this.#gone(block.bytes.subarray(0, bytes), block.bytes.subarray(bytes, block.length));
    block.bytes.copyWithin(0, bytes, block.length);
    block.length -= bytes;
  }

  #gone(gone: Buffer, next: Buffer): void {
    this.#length -= gone.length;
    this.#leaving?.(gone, next);
    const room = this.#ofStream ? 0 : KEEP_FIRST - this.#first.length;
    if (room > 0) this.#first = Buffer.concat([this.#first, gone.subarray(0, room)]);
  }

  /** The kept end of the answer. */
  tail(): Buffer {
    return this.held().subarray(-KEEP);
  }

  /** All that is still held, whose beginning may lie before the kept end: a long last event is whole in it. */
  held(): Buffer {
    return this.#pieces.length === 1 ? seen(this.#pieces[0] as Piece) : Buffer.concat(this.#pieces.map(seen));
  }

  /** The kept beginning of the answer, of which what was not let go is still held; empty where the kept end is all of it. */
  #head(): Buffer {
    if (this.#length <= KEEP && this.#first.length === 0) return NOTHING;
    return Buffer.concat([this.#first, this.held().subarray(0, KEEP_FIRST - this.#first.length)]);
  }

  /**
   * Token counts from the last `usage` (or llama.cpp's `timings`) object of the end; null for what is not told. A whole
   * answer may tell them before what was said, as Mistral's do: then they stand in its beginning.
   */
  read(): Usage {
    const last = countsIn(this.tail());
    return last ?? (this.#ofStream ? null : countsIn(this.#head())) ?? NO_USAGE;
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
    promptTokens: count(usage?.prompt_tokens) ?? wholePrompt(timings),
    completionTokens,
    tokensPerSecond: speedOf(completionTokens, told),
  };
}

/** The tokens of a prompt by llama.cpp's timings, which tell those read anew and those taken from its cache apart. */
function wholePrompt(timings: Record<string, unknown> | undefined): number | null {
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
    const found = objectBehind(text, at + name.length);
    if (found) return parsed(text.slice(found.start, found.end));
  }
  return undefined;
}

/** Where the object lies that stands behind a name and its colon. */
function objectBehind(text: string, from: number): Range | undefined {
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
