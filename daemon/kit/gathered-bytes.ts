import { letGo } from './passing.ts';

/** How many times what has come is set aside for what is to come: a length that is only claimed costs no memory. */
const AHEAD = 8;

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

  constructor(expected: number) {
    this.#expected = expected;
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
  }

  /** Hands out all that has come, and keeps none of it; the only piece itself when there was one. */
  take(): Buffer {
    const bytes = this.#bytes ?? Buffer.alloc(0);
    const length = this.#length;
    this.#bytes = null;
    this.#length = 0;
    return bytes.length === length ? bytes : bytes.subarray(0, length);
  }

  #grow(needed: number): void {
    const ahead = needed * AHEAD;
    const room = this.#expected >= needed ? Math.min(this.#expected, ahead) : needed * 2;
    const larger = Buffer.allocUnsafeSlow(room);
    if (this.#bytes !== null) {
      this.#bytes.copy(larger, 0, 0, this.#length);
      letGo(this.#bytes);
    }
    this.#bytes = larger;
  }
}
