import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { StoredBody } from '../../kit/outbound.ts';
import { Pieces } from '../../kit/pieces.ts';

/** So many bytes may wait for the engine before their sender has to. */
const MOST_WAITING = 1 << 20;
/** How fast a sender has to go on, who holds an engine meanwhile: so many bytes in so many milliseconds, or all the rest. */
export const PACE = { bytes: 10 * 2 ** 20, ms: 10_000 } as const;
type Pace = { readonly bytes: number; readonly ms: number };

/**
 * A body that goes on while it comes. It can be sent anew only as long as nobody has taken anything of it: what has passed is
 * not kept.
 */
export class Flow implements StoredBody {
  /** Bytes of the whole body, as its sender has declared them. */
  readonly length: number;
  readonly #pace: Pace;
  readonly #waiting = new Pieces();
  #ended = false;
  #failed: Error | null = null;
  #taken = false;
  /** Whether the stream that is read now has asked for more. */
  #wanted = false;
  #out: Readable | null = null;
  #room: PromiseWithResolvers<void> | null = null;
  /** The stretch of time that runs while the sender is listened to, and what came in it. */
  #stretch: NodeJS.Timeout | null = null;
  #came = 0;

  /** `before` is what has come already. */
  constructor(length: number, before: readonly Buffer[], pace: Pace = PACE) {
    this.length = length;
    this.#pace = pace;
    for (const piece of before) this.#waiting.push(piece);
    this.#listen();
  }

  /** Takes bytes; asks to wait by a promise. */
  push(chunk: Buffer): Promise<void> | undefined {
    if (this.#failed !== null) return undefined;
    this.#waiting.push(chunk);
    this.#came += chunk.length;
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
    this.#give();
  }

  /** Nothing more comes, for this reason; whoever takes the body gets it as the error. After the end it changes nothing. */
  fail(reason: Error): void {
    if (this.#ended || this.#failed !== null) return;
    this.#failed = reason;
    this.#hush();
    this.#waiting.take();
    this.#out?.destroy(reason);
    this.#room?.resolve();
  }

  stream(): Readable {
    const out = new Readable({
      read: () => {
        this.#wanted = true;
        this.#give();
      },
    });
    // Who takes it hears of its end by itself; nobody may have begun to, or have left already.
    out.on('error', () => {});
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
      this.#wanted = out.push(this.#waiting.shift());
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
