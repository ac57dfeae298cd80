import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { GatewayError } from '../contract/errors.ts';
import type { CallerResponse } from './caller.ts';

export interface InternalHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The answer to a call from inside the gateway: what an HTTP response takes, kept in memory until it is read. Bytes are
 * asked for only as fast as they are read; an answer whose reader stops reading is ended.
 */
export class InternalResponse extends Writable implements CallerResponse {
  /** Fulfilled by the head; rejected by a failure before it. */
  readonly head: Promise<InternalHead>;
  readonly #settle = Promise.withResolvers<InternalHead>();
  readonly #headers: Record<string, string> = {};
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.fail(this.#signal.reason);
  #pending: { chunk: Buffer; taken: () => void } | null = null;
  #finished = false;
  #failure: unknown = null;
  #abortReason: GatewayError | null = null;
  #inBandError: GatewayError | null = null;
  #wake: (() => void) | null = null;

  /** Its end is the end of the answer; what is read afterwards throws the signal's reason. */
  constructor(signal: AbortSignal) {
    super();
    this.#signal = signal;
    this.head = this.#settle.promise;
    this.head.catch(() => {});
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  setHeader(name: string, value: number | string | readonly string[]): void {
    this.#headers[name.toLowerCase()] = String(value);
  }

  removeHeader(name: string): void {
    delete this.#headers[name.toLowerCase()];
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): void {
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) this.setHeader(name, value);
    }
    this.#settle.resolve({ status, headers: { ...this.#headers } });
  }

  flushHeaders(): void {}

  /** The failure that the last event tells. */
  get inBandError(): GatewayError | null {
    return this.#inBandError;
  }

  onInBandError(failure: GatewayError): void {
    this.#inBandError = failure;
  }

  /** Why the reader could not go on with what came. */
  get failure(): GatewayError | null {
    return this.#abortReason;
  }

  /** The reader can't go on with what comes: the call ends, and this is why. */
  abort(failure: GatewayError): void {
    this.#abortReason = failure;
    this.fail(failure);
  }

  /** Ends it by a failure, which the reader gets; the first one counts. */
  fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#settle.reject(reason);
    this.destroy();
  }

  /** The call is over; nothing more can come. */
  callEnded(): void {
    if (!this.writableEnded) this.fail(brokenOff());
  }

  /** The bytes of the body, once. Leaving early ends the call. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const next = this.#pending;
        if (next !== null) {
          this.#pending = null;
          yield next.chunk;
          next.taken();
        } else if (this.#failure !== null) throw this.#failure;
        else if (this.#finished) return;
        else await new Promise<void>((wake) => (this.#wake = wake));
      }
    } finally {
      if (!this.#finished) this.destroy();
    }
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, taken: () => void): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    this.#pending = { chunk: bytes, taken };
    this.#wakeReader();
  }

  override _final(done: () => void): void {
    this.#finished = true;
    done();
    this.#wakeReader();
  }

  override _destroy(_: Error | null, done: (error: null) => void): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#finished) this.#failure ??= brokenOff();
    this.#pending = null;
    done(null);
    this.#wakeReader();
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = null;
  }
}

const brokenOff = () =>
  new GatewayError('dispatch.upstream_unavailable', {
    message: 'The engine or upstream broke off its answer.',
  });
