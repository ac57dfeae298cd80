const SLAB_BYTES = 8 * 1024;
/** Longer ones get memory of their own: they would waste what is left of a slab. */
const MAX_SLAB_ALLOCATION = SLAB_BYTES >>> 2;

/**
 * Memory for short bytes that live about equally long. Node's own pool is shared with whatever else is made meanwhile: one
 * slice of it that stays, as the body of a stream that runs for minutes does, holds on to all 64 KiB around it.
 */
export class SlabAllocator {
  #slab = Buffer.alloc(0);
  #used = 0;

  /** So many bytes that hold anything; nobody else gets them. */
  allocate(length: number): Buffer {
    if (length > MAX_SLAB_ALLOCATION) return Buffer.allocUnsafeSlow(length);
    if (this.#used + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += length;
    return this.#slab.subarray(at, this.#used);
  }
}
