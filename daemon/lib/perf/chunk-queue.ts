/** Pieces that are shorter are joined: a list of single bytes would cost a hundred times what it holds. */
const SHORT = 8 * 1024;
const SLAB = 64 * 1024;

/** Bytes in a row, in the pieces in which they came, but that short ones share a buffer. */
export class Pieces {
  #list: Buffer[] = [];
  #length = 0;
  /** The buffer whose first `#used` bytes end in the last piece; null while that is a piece as it came. */
  #slab: Buffer | null = null;
  #used = 0;

  /** Bytes in all. */
  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    this.#length += piece.length;
    if (piece.length >= SHORT) {
      this.#list.push(piece);
      this.#slab = null;
    } else if (piece.length > 0) this.#join(piece);
  }

  /** Takes the first piece out. */
  shift(): Buffer | undefined {
    const first = this.#list.shift();
    if (this.#list.length === 0) this.#slab = null;
    this.#length -= first?.length ?? 0;
    return first;
  }

  /** Takes everything out. */
  take(): Buffer[] {
    const list = this.#list;
    this.#list = [];
    this.#length = 0;
    this.#slab = null;
    return list;
  }

  #join(piece: Buffer): void {
    const open = this.#slab !== null && this.#used + piece.length <= SLAB ? this.#slab : null;
    const slab = open ?? Buffer.allocUnsafeSlow(SLAB);
    const at = open === null ? 0 : this.#used;
    const before = open === null ? 0 : (this.#list.pop() as Buffer).length;
    piece.copy(slab, at);
    this.#slab = slab;
    this.#used = at + piece.length;
    this.#list.push(slab.subarray(at - before, this.#used));
  }
}
