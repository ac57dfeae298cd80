import { JsonStringIndex, storeStringIndex } from '../json/json-string-index.ts';
import { detachBuffer, releaseBuffer } from './buffer-release.ts';
import { acquireBuffer } from './large-buffer-pool.ts';

/**
 * How many times what has come is set aside for what is to come: a length that is only claimed costs no memory. What has come by
 * then is copied once more, so the steps are few: 64 KiB, a megabyte, sixteen, all. Where all of it is no more than twice the step,
 * it is the step: else nearly all would be copied once more.
 */
const GROWTH_FACTOR = 16;
const FIRST_STEP_BYTES = 1024 * 1024;
/** Bytes from which a JSON text is walked as it comes. */
const MIN_INDEXED_BODY_BYTES = 256 * 1024;

/**
 * Bytes that come in pieces, as one buffer in the end. Each piece is copied as it comes and let go at once, so nobody else may
 * hold on to it: pieces that are kept until the last one has come grow old, and what is old and large costs a walk through the
 * whole heap to be freed.
 */
export class BodyBuffer {
  /** Bytes that are foreseen; NaN when nobody said. */
  readonly #expected: number;
  #bytes: Buffer | null = null;
  #length = 0;
  readonly #stringIndex: JsonStringIndex | null;

  constructor(expected: number) {
    this.#expected = expected;
    this.#stringIndex = expected >= MIN_INDEXED_BODY_BYTES ? new JsonStringIndex() : null;
  }

  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#bytes === null) this.#bytes = chunk;
    else {
      if (length > this.#bytes.length || this.#length === this.#bytes.length) this.#grow(length);
      chunk.copy(this.#bytes, this.#length);
      detachBuffer(chunk);
    }
    this.#length = length;
    this.#stringIndex?.advance(this.#bytes, length);
  }

  /**
   * Hands out all that has come, and keeps none of it; the only piece itself when there was one. What was found in a long JSON
   * text is noted of it.
   */
  take(): Buffer {
    const buffer = this.#bytes ?? Buffer.alloc(0);
    const bytes = buffer.length === this.#length ? buffer : buffer.subarray(0, this.#length);
    if (this.#stringIndex !== null) storeStringIndex(bytes, this.#stringIndex);
    this.#bytes = null;
    this.#length = 0;
    return bytes;
  }

  /** Lets go what has come, for good: the rest will not come. */
  discard(): void {
    if (this.#bytes !== null) releaseBuffer(this.#bytes);
    this.#bytes = null;
    this.#length = 0;
  }

  #grow(needed: number): void {
    const target = needed * GROWTH_FACTOR;
    const step = needed < FIRST_STEP_BYTES ? Math.min(target, FIRST_STEP_BYTES) : target;
    const capacity = this.#expected <= step * 2 ? this.#expected : step;
    const buffer = this.#expected >= needed ? capacity : needed * 2;
    const larger = acquireBuffer(buffer);
    if (this.#bytes !== null) {
      this.#bytes.copy(larger, 0, 0, this.#length);
      releaseBuffer(this.#bytes);
    }
    this.#bytes = larger;
  }
}
