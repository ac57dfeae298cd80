import { allocateReleasable, detachBuffer, releaseBuffer } from './buffer-release.ts';

/**
 * The buffer grows to this multiple of the received bytes, so that a false Content-Length costs no memory.
 * Growing copies the received bytes, so there are few steps: 64 KiB, 1 MiB, 16 MiB, full length. If the full
 * length is at most twice the step, it is used at once, because otherwise nearly everything would be copied
 * again.
 */
const GROWTH_FACTOR = 16;
const FIRST_STEP_BYTES = 1024 * 1024;

/**
 * Collects chunks into one buffer. Each chunk is copied and detached when it arrives, so no other code may
 * use it afterwards. Chunks that are retained until the end would be promoted to the old generation, and
 * freeing large old buffers costs a full collection.
 */
export class BodyBuffer {
  /** Expected length in bytes, or NaN if it is unknown. */
  readonly #expected: number;
  #bytes: Buffer | null = null;
  #length = 0;

  constructor(expected: number) {
    this.#expected = expected;
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
  }

  /**
   * Returns all received bytes and clears the buffer. Returns the original chunk when there was only one.
   */
  take(): Buffer {
    const buffer = this.#bytes ?? Buffer.alloc(0);
    const bytes = buffer.length === this.#length ? buffer : buffer.subarray(0, this.#length);
    this.#bytes = null;
    this.#length = 0;
    return bytes;
  }

  /** Releases the received bytes. Call it when the rest will not arrive. */
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
    const larger = allocateReleasable(buffer);
    if (this.#bytes !== null) {
      this.#bytes.copy(larger, 0, 0, this.#length);
      releaseBuffer(this.#bytes);
    }
    this.#bytes = larger;
  }
}
