import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { OutboundBody, StoredBody } from '../../lib/net/outbound.ts';
import { releaseAfterWrite } from '../../lib/perf/buffer-release.ts';
import { ChunkQueue } from '../../lib/perf/chunk-queue.ts';
import type { UploadBuffer } from './upload-buffer.ts';

/** So many bytes may wait for the engine before their sender has to. */
const MAX_WAITING_BYTES = 1 << 18;
/** How fast a sender has to go on, who holds an engine meanwhile: so many bytes in so many milliseconds, or all the rest. */
export const MIN_PACE = { bytes: 2 ** 20, ms: 10_000 } as const;
type Pace = { readonly bytes: number; readonly ms: number };

/**
 * A body that goes on while it comes. Until somebody takes it, it is kept as any other one; a long wait for an engine is therefore
 * no wait of its sender, and what lies on the disk then is sent from there once it is whole. Otherwise it goes from hand to hand,
 * and can be sent anew only as long as nobody has taken anything of it: what has passed is not kept.
 */
export class StreamingUpload implements StoredBody {
  /** Bytes of the whole body, as its sender has declared them. */
  readonly length: number;
  readonly #buffer: UploadBuffer;
  readonly #pace: Pace;
  readonly #waiting = new ChunkQueue();
  /** It goes from hand to hand. */
  #isLive = false;
  #ended = false;
  #failed: Error | null = null;
  #anyRead = false;
  /** Whether the stream that is read now has asked for more. */
  #readRequested = false;
  #out: Readable | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  /** Fulfilled once all of it is kept. */
  readonly #whole = Promise.withResolvers<OutboundBody>();
  /** The stretch of time that runs while the sender is listened to, and what came in it. */
  #paceTimer: NodeJS.Timeout | null = null;
  #receivedBytes = 0;

  /** `kept` is what has come already. */
  constructor(length: number, kept: UploadBuffer, pace: Pace = MIN_PACE) {
    this.length = length;
    this.#buffer = kept;
    this.#pace = pace;
    this.#whole.promise.catch(() => {});
  }

  /** What is taken of it is gone. */
  get once(): boolean {
    return !this.#buffer.stored;
  }

  /** Takes bytes; asks to wait by a promise. */
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

  /** Everything has come. */
  end(): void {
    this.#stopPaceCheck();
    this.#ended = true;
    if (this.#buffer.stored) this.#buffer.whole().then(this.#whole.resolve, this.#whole.reject);
    this.#pump();
  }

  /** Nothing more comes, for this reason; whoever takes the body gets it as the error. After the end it changes nothing. */
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

  /** Begins to listen to the sender, whose pace counts from now on. */
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

/** Who takes it hears of its end by itself; nobody may have begun to, or have left already. */
const ignoreErrors = (out: Readable): Readable => out.on('error', () => {});
