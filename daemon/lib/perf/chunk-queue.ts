/** Pieces that are shorter are joined: a list of single bytes would cost a hundred times what it holds. */
const MAX_MERGED_BYTES = 8 * 1024;
const SLAB_BYTES = 64 * 1024;

/** Bytes in a row, in the pieces in which they came, but that short ones share a buffer. */
export class ChunkQueue {
  #chunks: Buffer[] = [];
  #length = 0;
  /** The buffer whose first `#used` bytes end in the last piece; null while that is a piece as it came. */
  #slab: Buffer | null = null;
  #used = 0;

  /** Bytes in all. */
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

  /** Takes the first piece out. */
  shift(): Buffer | undefined {
    const first = this.#chunks.shift();
    if (this.#chunks.length === 0) this.#slab = null;
    this.#length -= first?.length ?? 0;
    return first;
  }

  /** Takes everything out. */
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
