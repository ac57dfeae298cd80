import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { OutboundBody, StoredBody } from '../../lib/net/outbound.ts';
import { releaseAfterWrite } from '../../lib/perf/buffer-release.ts';
import { ChunkQueue } from '../../lib/perf/chunk-queue.ts';
import type { UploadBuffer } from './upload-buffer.ts';

/** Bytes that may wait for the engine before the sender must wait. */
const MAX_WAITING_BYTES = 1 << 18;
/** Minimum pace of a sender that occupies an engine: bytes per period, or the rest of the body. */
export const MIN_PACE = { bytes: 2 ** 20, ms: 10_000 } as const;
type Pace = { readonly bytes: number; readonly ms: number };

/**
 * A body that is streamed to the engine while it is received. Buffered like any other body until it is read,
 * so that a long wait for an engine does not block the sender. What is on disk by then is sent from disk once
 * complete. Otherwise chunks pass directly, and the body can be sent again only while no chunk has been read,
 * because they are not stored.
 */
export class StreamingUpload implements StoredBody {
  /** Total bytes that the sender declared. */
  readonly length: number;
  readonly #buffer: UploadBuffer;
  readonly #pace: Pace;
  readonly #waiting = new ChunkQueue();
  /** Chunks pass directly from sender to reader. */
  #isLive = false;
  #ended = false;
  #failed: Error | null = null;
  #anyRead = false;
  /** Whether the current reader has requested more. */
  #readRequested = false;
  #out: Readable | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  /** Resolves when the whole body is buffered. */
  readonly #whole = Promise.withResolvers<OutboundBody>();
  /** The timer of the current period, and the bytes received in it. */
  #paceTimer: NodeJS.Timeout | null = null;
  #receivedBytes = 0;

  /** `buffer` holds what was received before. */
  constructor(length: number, buffer: UploadBuffer, pace: Pace = MIN_PACE) {
    this.length = length;
    this.#buffer = buffer;
    this.#pace = pace;
    this.#whole.promise.catch(() => {});
  }

  /** Whether the body can be read only once. */
  get once(): boolean {
    return !this.#buffer.stored;
  }

  /** Accepts a chunk; applies backpressure by a promise. */
  push(chunk: Buffer): Promise<void> | undefined {
    if (this.#failed !== null) return undefined;
    this.#receivedBytes += chunk.length;
    if (!this.#isLive) return this.#buffer.push(chunk);
    this.#waiting.push(chunk);
    this.#pump();
    if (this.#waiting.length <= MAX_WAITING_BYTES) return undefined;
    this.#stopPaceCheck();
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** Marks the end of the body. */
  end(): void {
    this.#stopPaceCheck();
    this.#ended = true;
    if (this.#buffer.stored) this.#buffer.whole().then(this.#whole.resolve, this.#whole.reject);
    this.#pump();
  }

  /** Ends the body with an error, which its reader receives. Has no effect after the end. */
  fail(reason: Error): void {
    if (this.#ended || this.#failed !== null) return;
    this.#failed = reason;
    this.#stopPaceCheck();
    this.#waiting.take();
    this.#whole.reject(reason);
    this.#out?.destroy(reason);
    this.#drained?.resolve();
  }

  stream(): Readable {
    if (this.#failed === null && this.#paceTimer === null) this.#startPaceCheck();
    return this.#buffer.stored ? this.#streamFromDisk() : this.#streamLive();
  }

  #streamFromDisk(): Readable {
    const { promise } = this.#whole;
    const pieces = async function* () {
      const body = await promise;
      if (Buffer.isBuffer(body)) yield body;
      else yield* 'stream' in body ? body.stream() : body;
    };
    return ignoreErrors(Readable.from(pieces(), { objectMode: false }));
  }

  #streamLive(): Readable {
    if (!this.#isLive) for (const piece of this.#buffer.take()) this.#waiting.push(piece);
    this.#isLive = true;
    const out = ignoreErrors(
      new Readable({
        read: () => {
          this.#readRequested = true;
          this.#pump();
        },
      }),
    );
    const lost = this.#anyRead ? new GatewayError('dispatch.upstream_unavailable') : null;
    const failed = this.#failed ?? lost;
    if (failed !== null) out.destroy(failed);
    else {
      this.#out = out;
      this.#readRequested = false;
    }
    return out;
  }

  #pump(): void {
    const out = this.#out;
    if (out === null || out.destroyed) return;
    while (this.#readRequested && this.#waiting.length > 0) {
      this.#anyRead = true;
      this.#readRequested = out.push(releaseAfterWrite(this.#waiting.shift() as Buffer));
    }
    if (this.#waiting.length === 0 && this.#ended) out.push(null);
    if (this.#waiting.length > MAX_WAITING_BYTES / 2 || this.#drained === null) return;
    this.#drained.resolve();
    this.#drained = null;
    this.#startPaceCheck();
  }

  /** Starts a new period of the pace check. */
  #startPaceCheck(): void {
    if (this.#ended || this.#failed !== null) return;
    this.#stopPaceCheck();
    this.#receivedBytes = 0;
    this.#paceTimer = setTimeout(() => {
      if (this.#receivedBytes < this.#pace.bytes) this.fail(new GatewayError('request.timeout'));
      else this.#startPaceCheck();
    }, this.#pace.ms).unref();
  }

  #stopPaceCheck(): void {
    if (this.#paceTimer !== null) clearTimeout(this.#paceTimer);
    this.#paceTimer = null;
  }
}

/** Readers have their own error handling, but no reader may be attached yet or any longer. */
const ignoreErrors = (out: Readable): Readable => out.on('error', () => {});
