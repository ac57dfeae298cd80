import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { OutboundBody, StoredBody } from '../../lib/net/outbound.ts';
import { releaseAfterWrite } from '../../lib/perf/buffer-release.ts';
import { ChunkQueue } from '../../lib/perf/chunk-queue.ts';
import type { Kept } from './upload-buffer.ts';

/** So many bytes may wait for the engine before their sender has to. */
const MOST_WAITING = 1 << 18;
/** How fast a sender has to go on, who holds an engine meanwhile: so many bytes in so many milliseconds, or all the rest. */
export const PACE = { bytes: 2 ** 20, ms: 10_000 } as const;
type Pace = { readonly bytes: number; readonly ms: number };

/**
 * A body that goes on while it comes. Until somebody takes it, it is kept as any other one; a long wait for an engine is therefore
 * no wait of its sender, and what lies on the disk then is sent from there once it is whole. Otherwise it goes from hand to hand,
 * and can be sent anew only as long as nobody has taken anything of it: what has passed is not kept.
 */
export class Flow implements StoredBody {
  /** Bytes of the whole body, as its sender has declared them. */
  readonly length: number;
  readonly #kept: Kept;
  readonly #pace: Pace;
  readonly #waiting = new ChunkQueue();
  /** It goes from hand to hand. */
  #live = false;
  #ended = false;
  #failed: Error | null = null;
  #taken = false;
  /** Whether the stream that is read now has asked for more. */
  #wanted = false;
  #out: Readable | null = null;
  #room: PromiseWithResolvers<void> | null = null;
  /** Fulfilled once all of it is kept. */
  readonly #whole = Promise.withResolvers<OutboundBody>();
  /** The stretch of time that runs while the sender is listened to, and what came in it. */
  #stretch: NodeJS.Timeout | null = null;
  #came = 0;

  /** `kept` is what has come already. */
  constructor(length: number, kept: Kept, pace: Pace = PACE) {
    this.length = length;
    this.#kept = kept;
    this.#pace = pace;
    this.#whole.promise.catch(() => {});
  }

  /** What is taken of it is gone. */
  get once(): boolean {
    return !this.#kept.stored;
  }

  /** Takes bytes; asks to wait by a promise. */
  push(chunk: Buffer): Promise<void> | undefined {
    if (this.#failed !== null) return undefined;
    this.#came += chunk.length;
    if (!this.#live) return this.#kept.push(chunk);
    this.#waiting.push(chunk);
    this.#give();
    if (this.#waiting.length <= MOST_WAITING) return undefined;
    this.#hush();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Everything has come. */
  end(): void {
    this.#hush();
    this.#ended = true;
    if (this.#kept.stored) this.#kept.whole().then(this.#whole.resolve, this.#whole.reject);
    this.#give();
  }

  /** Nothing more comes, for this reason; whoever takes the body gets it as the error. After the end it changes nothing. */
  fail(reason: Error): void {
    if (this.#ended || this.#failed !== null) return;
    this.#failed = reason;
    this.#hush();
    this.#waiting.take();
    this.#whole.reject(reason);
    this.#out?.destroy(reason);
    this.#room?.resolve();
  }

  stream(): Readable {
    if (this.#failed === null && this.#stretch === null) this.#listen();
    return this.#kept.stored ? this.#fromDisk() : this.#fromHand();
  }

  #fromDisk(): Readable {
    const { promise } = this.#whole;
    const pieces = async function* () {
      const body = await promise;
      if (Buffer.isBuffer(body)) yield body;
      else yield* 'stream' in body ? body.stream() : body;
    };
    return quiet(Readable.from(pieces(), { objectMode: false }));
  }

  #fromHand(): Readable {
    if (!this.#live) for (const piece of this.#kept.take()) this.#waiting.push(piece);
    this.#live = true;
    const out = quiet(
      new Readable({
        read: () => {
          this.#wanted = true;
          this.#give();
        },
      }),
    );
    const lost = this.#taken ? new GatewayError('dispatch.upstream_unavailable') : null;
    const failed = this.#failed ?? lost;
    if (failed !== null) out.destroy(failed);
    else {
      this.#out = out;
      this.#wanted = false;
    }
    return out;
  }

  #give(): void {
    const out = this.#out;
    if (out === null || out.destroyed) return;
    while (this.#wanted && this.#waiting.length > 0) {
      this.#taken = true;
      this.#wanted = out.push(releaseAfterWrite(this.#waiting.shift() as Buffer));
    }
    if (this.#waiting.length === 0 && this.#ended) out.push(null);
    if (this.#waiting.length > MOST_WAITING / 2 || this.#room === null) return;
    this.#room.resolve();
    this.#room = null;
    this.#listen();
  }

  /** Begins to listen to the sender, whose pace counts from now on. */
  #listen(): void {
    if (this.#ended || this.#failed !== null) return;
    this.#hush();
    this.#came = 0;
    this.#stretch = setTimeout(() => {
      if (this.#came < this.#pace.bytes) this.fail(new GatewayError('request.timeout'));
      else this.#listen();
    }, this.#pace.ms).unref();
  }

  #hush(): void {
    if (this.#stretch !== null) clearTimeout(this.#stretch);
    this.#stretch = null;
  }
}

/** Who takes it hears of its end by itself; nobody may have begun to, or have left already. */
const quiet = (out: Readable): Readable => out.on('error', () => {});
