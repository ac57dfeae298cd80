import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { BadResponseError } from '../upstreams/query-upstream.ts';
import type { PreparedSink } from './call-context.ts';
import type { CallScope } from './forward/call-scope.ts';
import type { ResponseWriter } from './forward/response-writer.ts';

/** Bytes of a response that are held until its end, to check all of it before it passes unchanged. */
const MAX_HELD_BYTES = 1024 * 1024;
/** Maximum bytes of a response that is transformed: the vectors of 2,048 texts as decimal numbers. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Reads a response while it arrives, to decide whether it can be sent unchanged. */
export interface ResponseCheck {
  push(chunk: Buffer): void;
  /** Returns whether the bytes so far can be sent unchanged. Called once, for a response too long to be held. */
  startsUnchanged(): boolean;
  /** Returns whether the complete response can be sent unchanged. */
  isUnchanged(): boolean;
}

export interface TransformedResponseOptions {
  readonly response: ResponseWriter;
  readonly scope: Pick<CallScope, 'onEnd' | 'end'>;
  /**
   * Returns the body for the caller from the whole body of the engine. Throws a GatewayError for a body that
   * it cannot transform.
   */
  transform(bytes: Buffer): Buffer;
  /** Decides whether the response passes unchanged; without it, every response is transformed. */
  readonly check?: ResponseCheck | undefined;
}

/**
 * Buffers an engine's JSON response and sends the transformed one. Relays errors unchanged, and a response that
 * its check accepts.
 */
export class TransformedResponse implements PreparedSink {
  readonly #options: TransformedResponseOptions;
  readonly #settled = Promise.withResolvers<void>();
  readonly #unsubscribe: () => void;
  #mode: 'collect' | 'pass' | 'over' = 'collect';
  #head: { status: number; headers: IncomingHttpHeaders } = { status: 0, headers: {} };
  #buffered: Buffer[] = [];
  #bytes = 0;
  #checked = false;

  constructor(options: TransformedResponseOptions) {
    this.#options = options;
    this.#settled.promise.catch(() => {});
    this.#unsubscribe = options.scope.onEnd((reason) => this.#settled.reject(reason));
  }

  /** While the response is collected, nothing is sent as far as the exchange is concerned. */
  get headSent(): boolean {
    return this.#options.response.headSent;
  }

  /** Resolves when the caller has the whole response; rejects with a failure after the engine's end. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.#head = { status, headers };
    if (status >= 300) this.#pass();
  }

  write(chunk: Buffer): boolean {
    if (this.#mode === 'pass') return this.#options.response.write(chunk);
    if (this.#mode === 'over') return true;
    this.#buffered.push(chunk);
    this.#bytes += chunk.length;
    this.#options.check?.push(chunk);
    if (this.#bytes > MAX_BYTES) this.#tooLarge();
    else if (this.#bytes > MAX_HELD_BYTES && !this.#checked) return this.#tryPass();
    return true;
  }

  whenDrained(resume: () => void): void {
    this.#options.response.whenDrained(resume);
  }

  finish(last?: Buffer): void {
    if (this.#mode === 'pass') {
      this.#options.response.finish(last);
      this.#end();
      return;
    }
    if (last) this.write(last);
    if (this.#mode === 'collect') this.#sendWhole();
  }

  fail(error: GatewayError): void {
    if (this.#mode === 'pass') {
      this.#options.response.fail(error);
      this.#end();
    } else this.#fail(error);
  }

  failWith(envelope: object): void {
    this.#options.response.failWith(envelope);
    this.#end();
  }

  /** Releases the buffered chunks. */
  dispose(): void {
    this.#mode = 'over';
    this.#buffered = [];
    this.#unsubscribe();
  }

  /** Relays a large response whose beginning needs no change. */
  #tryPass(): boolean {
    this.#checked = true;
    if (!this.#options.check?.startsUnchanged()) return true;
    const held = this.#buffered;
    this.#pass();
    return held.map((chunk) => this.#options.response.write(chunk)).every((accepted) => accepted);
  }

  #pass(): void {
    this.#mode = 'pass';
    this.#buffered = [];
    this.#options.response.begin(this.#head.status, this.#head.headers);
  }

  /** Sends the complete response: the received chunks where they need no change, else the transformed body. */
  #sendWhole(): void {
    try {
      const { response, transform, check } = this.#options;
      const chunks = check?.isUnchanged() ? this.#buffered : [transform(Buffer.concat(this.#buffered))];
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
      response.begin(200, { 'content-type': 'application/json', 'content-length': String(bytes) });
      for (const chunk of chunks.slice(0, -1)) response.write(chunk);
      response.finish(chunks.at(-1));
      this.#end();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the call, because the engine may never end on its own. */
  #tooLarge(): void {
    this.#options.scope.end(tooLarge());
    this.dispose();
  }

  #end(): void {
    this.#settled.resolve();
    this.dispose();
  }

  #fail(error: unknown): void {
    this.#settled.reject(error);
    this.dispose();
  }
}

const tooLarge = () =>
  new GatewayError('upstream.error', {
    message: 'The response of the engine or upstream is too large to be processed.',
    cause: new BadResponseError('Its answer is too large.'),
  });
