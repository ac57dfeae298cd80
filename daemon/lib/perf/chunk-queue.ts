/** Shorter chunks are merged: a list of single bytes would need a hundred times their size. */
const MAX_MERGED_BYTES = 8 * 1024;
const SLAB_BYTES = 64 * 1024;

/** A queue of bytes in their original chunks, except that short chunks share a buffer. */
export class ChunkQueue {
  #chunks: Buffer[] = [];
  #length = 0;
  /**
   * The buffer whose first `#used` bytes end with the last chunk. Null while the last chunk is an original
   * one.
   */
  #slab: Buffer | null = null;
  #used = 0;

  /** Total bytes. */
  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (chunk.length >= MAX_MERGED_BYTES) {
      this.#chunks.push(chunk);
      this.#slab = null;
    } else if (chunk.length > 0) this.#merge(chunk);
  }

  /** Removes and returns all chunks. */
  take(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#length = 0;
    this.#slab = null;
    return chunks;
  }

  #merge(chunk: Buffer): void {
    const open = this.#slab !== null && this.#used + chunk.length <= SLAB_BYTES ? this.#slab : null;
    const slab = open ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
    const at = open === null ? 0 : this.#used;
    const before = open === null ? 0 : (this.#chunks.pop() as Buffer).length;
    chunk.copy(slab, at);
    this.#slab = slab;
    this.#used = at + chunk.length;
    this.#chunks.push(slab.subarray(at - before, this.#used));
  }
}
