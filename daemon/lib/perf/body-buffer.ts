import { LongStrings, noteLongStrings } from '../json/json-string-index.ts';
import { letGo, letGoWhole } from './buffer-release.ts';
import { takeRoom } from './large-buffer-pool.ts';

/**
 * How many times what has come is set aside for what is to come: a length that is only claimed costs no memory. What has come by
 * then is copied once more, so the steps are few: 64 KiB, a megabyte, sixteen, all. Where all of it is no more than twice the step,
 * it is the step: else nearly all would be copied once more.
 */
const AHEAD = 16;
const FIRST = 1024 * 1024;
/** Bytes from which a JSON text is walked as it comes. */
const LONG = 256 * 1024;

/**
 * Bytes that come in pieces, as one buffer in the end. Each piece is copied as it comes and let go at once, so nobody else may
 * hold on to it: pieces that are kept until the last one has come grow old, and what is old and large costs a walk through the
 * whole heap to be freed.
 */
export class GatheredBytes {
  /** Bytes that are foreseen; NaN when nobody said. */
  readonly #expected: number;
  #bytes: Buffer | null = null;
  #length = 0;
  readonly #strings: LongStrings | null;

  constructor(expected: number) {
    this.#expected = expected;
    this.#strings = expected >= LONG ? new LongStrings() : null;
  }

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#bytes === null) this.#bytes = piece;
    else {
      if (length > this.#bytes.length || this.#length === this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
      letGo(piece);
    }
    this.#length = length;
    this.#strings?.advance(this.#bytes, length);
  }

  /**
   * Hands out all that has come, and keeps none of it; the only piece itself when there was one. What was found in a long JSON
   * text is noted of it.
   */
  take(): Buffer {
    const room = this.#bytes ?? Buffer.alloc(0);
    const bytes = room.length === this.#length ? room : room.subarray(0, this.#length);
    if (this.#strings !== null) noteLongStrings(bytes, this.#strings);
    this.#bytes = null;
    this.#length = 0;
    return bytes;
  }

  /** Lets go what has come, for good: the rest will not come. */
  drop(): void {
    if (this.#bytes !== null) letGoWhole(this.#bytes);
    this.#bytes = null;
    this.#length = 0;
  }

  #grow(needed: number): void {
    const ahead = needed * AHEAD;
    const within = needed < FIRST ? Math.min(ahead, FIRST) : ahead;
    const step = this.#expected <= within * 2 ? this.#expected : within;
    const room = this.#expected >= needed ? step : needed * 2;
    const larger = takeRoom(room);
    if (this.#bytes !== null) {
      this.#bytes.copy(larger, 0, 0, this.#length);
      letGoWhole(this.#bytes);
    }
    this.#bytes = larger;
  }
}
