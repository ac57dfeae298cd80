const SLAB_BYTES = 8 * 1024;
/** Longer allocations get their own memory, because they would waste the rest of a slab. */
const MAX_SLAB_ALLOCATION = SLAB_BYTES >>> 2;

/**
 * Allocates memory for short buffers with similar lifetimes. Node's own pool is shared with unrelated
 * allocations: one retained slice, such as the body of a stream that runs for minutes, retains all 64 KiB
 * around it.
 */
export class SlabAllocator {
  #slab = Buffer.alloc(0);
  #used = 0;

  /** Returns a buffer of `length` bytes with arbitrary content. It is not shared. */
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
