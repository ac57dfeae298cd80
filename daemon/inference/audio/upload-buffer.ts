import type { Spool } from '../../lib/fs/spool.ts';
import type { OutboundBody } from '../../lib/net/outbound.ts';
import { detachBuffer } from '../../lib/perf/buffer-release.ts';
import { ChunkQueue } from '../../lib/perf/chunk-queue.ts';
import type { SpoolStore } from './spool-store.ts';

/** Bytes that are written in one step: each takes its way over a thread. */
const BATCH_BYTES = 1 << 20;
/** So many bytes may wait for the disk before their sender has to. */
const MAX_WAITING_BYTES = 3 << 20;

/** A recording as it comes: a short one in memory, a long one on its way to the disk in few large steps. Its pieces are its own. */
export class UploadBuffer {
  readonly #spools: SpoolStore;
  readonly #waiting = new ChunkQueue();
  #spool: Spool | null = null;
  /** The step under way; never rejects. */
  #writing: Promise<void> | null = null;
  #failed: { readonly error: unknown } | null = null;

  constructor(spools: SpoolStore) {
    this.#spools = spools;
  }

  /** Bytes that wait in memory. */
  get bytes(): number {
    return this.#waiting.length;
  }

  /** Whether some of it lies on the disk, or is on its way there. */
  get stored(): boolean {
    return this.#spool !== null || this.#writing !== null || this.#failed !== null;
  }

  /** Gives away what waits; it is kept no more. */
  take(): Buffer[] {
    return this.#waiting.take();
  }

  /** Takes bytes; asks to wait by a promise, which rejects once they cannot be kept. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#waiting.push(chunk);
    if (this.#failed === null && this.bytes <= BATCH_BYTES) return undefined;
    const writing = this.#write();
    return this.#failed === null && this.bytes <= MAX_WAITING_BYTES
      ? undefined
      : writing.then(() => this.#check());
  }

  /** All that came. */
  async whole(): Promise<OutboundBody> {
    if (!this.stored) return this.#joined();
    await this.#writing;
    if (this.#failed === null && this.bytes > 0) await this.#write();
    this.#check();
    return this.#spool as Spool;
  }

  /** Lets go of everything, once the step under way has ended. */
  dispose(): void {
    this.take();
    const settled = this.#writing ?? Promise.resolve();
    void settled.then(() => {
      if (this.#spool !== null) void this.#spools.close(this.#spool);
      this.#spool = null;
    });
  }

  #joined(): Buffer {
    const pieces = this.take();
    const joined = Buffer.concat(pieces);
    for (const piece of pieces) detachBuffer(piece);
    return joined;
  }

  #check(): void {
    if (this.#failed !== null) throw this.#failed.error;
  }

  /** Begins to write what waits, unless that is done already. */
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
    const pieces = this.take();
    await this.#spools.write(this.#spool, pieces, length);
    for (const piece of pieces) detachBuffer(piece);
  }
}
