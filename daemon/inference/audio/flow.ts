import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { StoredBody } from '../../kit/outbound.ts';

/** So many bytes may wait for the engine before their sender has to. */
const MOST_WAITING = 1 << 20;
/** A sender that is silent for this long in the middle lets go of the engine, in milliseconds. */
const SILENCE_MS = 10_000;

/**
 * A body that goes on while it comes. It can be sent anew only as long as nobody has taken anything of it: what has passed is
 * not kept.
 */
export class Flow implements StoredBody {
  /** Bytes of the whole body, as its sender has declared them. */
  readonly length: number;
  readonly #silenceMs: number;
  #waiting: Buffer[];
  #bytes: number;
  #ended = false;
  #failed: Error | null = null;
  #taken = false;
  /** Whether the stream that is read now has asked for more. */
  #wanted = false;
  #out: Readable | null = null;
  #room: PromiseWithResolvers<void> | null = null;
  #silence: NodeJS.Timeout | null = null;

  /** `before` is what has come already. */
  constructor(length: number, before: readonly Buffer[], silenceMs = SILENCE_MS) {
    this.length = length;
    this.#silenceMs = silenceMs;
    this.#waiting = [...before];
    this.#bytes = before.reduce((sum, { length: bytes }) => sum + bytes, 0);
    this.#listen();
  }

  /** Takes bytes; asks to wait by a promise. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    this.#give();
    if (this.#bytes <= MOST_WAITING || this.#failed !== null) {
      this.#listen();
      return undefined;
    }
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
    this.#waiting = [];
    this.#bytes = 0;
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
      const chunk = this.#waiting.shift() as Buffer;
      this.#taken = true;
      this.#bytes -= chunk.length;
      this.#wanted = out.push(chunk);
    }
    if (this.#waiting.length === 0 && this.#ended) out.push(null);
    if (this.#bytes > MOST_WAITING / 2 || this.#room === null) return;
    this.#room.resolve();
    this.#room = null;
    this.#listen();
  }

  /** Begins to wait for the sender anew. */
  #listen(): void {
    if (this.#ended || this.#failed !== null) return;
    if (this.#silence !== null) this.#silence.refresh();
    else this.#silence = setTimeout(() => this.fail(silent()), this.#silenceMs).unref();
  }

  #hush(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = null;
  }
}

const silent = () => new GatewayError('request.timeout');
