import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { GatewayError } from '../contract/errors.ts';
import type { CallerResponse } from './caller.ts';

export interface InternalHead {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The response to an internal call: implements the interface of an HTTP response and buffers in memory.
 * Requests bytes only as fast as they are read. Ends when its reader stops.
 */
export class InternalResponse extends Writable implements CallerResponse {
  /** Resolves with the head; rejects with a failure before it. */
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

  /** The end of `signal` ends the response; reading afterwards throws the reason of the signal. */
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

  /** The failure that the last event reports. */
  get inBandError(): GatewayError | null {
    return this.#inBandError;
  }

  onInBandError(failure: GatewayError): void {
    this.#inBandError = failure;
  }

  /** Why the reader aborted the call. */
  get failure(): GatewayError | null {
    return this.#abortReason;
  }

  /** Ends the call because the reader cannot use the response. */
  abort(failure: GatewayError): void {
    this.#abortReason = failure;
    this.fail(failure);
  }

  /** Ends the response with a failure, which the reader receives. The first failure counts. */
  fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#settle.reject(reason);
    this.destroy();
  }

  /** The call is over; nothing more can arrive. */
  callEnded(): void {
    if (!this.writableEnded) this.fail(brokenOff());
  }

  /** Yields the bytes of the body, once. Leaving early ends the call. */
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
