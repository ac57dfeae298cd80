import type { Spool } from '../../lib/fs/spool.ts';
import type { OutboundBody } from '../../lib/net/outbound.ts';
import { detachBuffer } from '../../lib/perf/buffer-release.ts';
import { ChunkQueue } from '../../lib/perf/chunk-queue.ts';
import type { SpoolStore } from './spool-store.ts';

/** Bytes per write: each write costs a round trip through the thread pool. */
const BATCH_BYTES = 1 << 20;
/** Bytes that may wait for the disk before the sender must wait. */
const MAX_WAITING_BYTES = 3 << 20;

/** Buffers an upload: a short one in memory, a long one on disk in a few large writes. Owns its chunks. */
export class UploadBuffer {
  readonly #spools: SpoolStore;
  readonly #waiting = new ChunkQueue();
  #spool: Spool | null = null;
  /** The current write; never rejects. */
  #writing: Promise<void> | null = null;
  #failed: { readonly error: unknown } | null = null;

  constructor(spools: SpoolStore) {
    this.#spools = spools;
  }

  /** Accepts a chunk. Applies backpressure by a promise, which rejects when the chunk cannot be stored. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#waiting.push(chunk);
    if (this.#failed === null && this.#waiting.length <= BATCH_BYTES) return undefined;
    const writing = this.#write();
    return this.#failed === null && this.#waiting.length <= MAX_WAITING_BYTES
      ? undefined
      : writing.then(() => this.#check());
  }

  /** Returns the whole body. */
  async whole(): Promise<OutboundBody> {
    if (!this.#isStored) return this.#joined();
    await this.#writing;
    if (this.#failed === null && this.#waiting.length > 0) await this.#write();
    this.#check();
    return this.#spool as Spool;
  }

  /** Releases everything after the current write. */
  dispose(): void {
    this.#waiting.take();
    const settled = this.#writing ?? Promise.resolve();
    void settled.then(() => {
      if (this.#spool !== null) void this.#spools.close(this.#spool);
      this.#spool = null;
    });
  }

  /** Whether any of it is on disk, or being written. */
  get #isStored(): boolean {
    return this.#spool !== null || this.#writing !== null || this.#failed !== null;
  }

  #joined(): Buffer {
    const pieces = this.#waiting.take();
    const joined = Buffer.concat(pieces);
    for (const piece of pieces) detachBuffer(piece);
    return joined;
  }

  #check(): void {
    if (this.#failed !== null) throw this.#failed.error;
  }

  /** Starts to write what waits, unless a write is running. */
  #write(): Promise<void> {
    this.#writing ??= this.#step()
      .catch((error: unknown) => {
        this.#failed = { error };
      })
      .finally(() => {
        this.#writing = null;
      });
    return this.#writing;
  }

  async #step(): Promise<void> {
    this.#spool ??= await this.#spools.open();
    const { length } = this.#waiting;
    const pieces = this.#waiting.take();
    await this.#spools.write(this.#spool, pieces, length);
    for (const piece of pieces) detachBuffer(piece);
  }
}
