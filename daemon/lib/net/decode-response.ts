import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { OutboundController, OutboundHandler } from './outbound.ts';

type Headers = Parameters<NonNullable<OutboundHandler['onResponseStart']>>[2];
type Trailers = Parameters<NonNullable<OutboundHandler['onResponseEnd']>>[1];

/** Content codings (RFC 9110 section 8.4.1) and their decoders. `head` is the first chunk. */
const DECODERS: ReadonlyMap<string, (head: Buffer) => Transform> = new Map<
  string,
  (head: Buffer) => Transform
>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress()],
  // Some servers send raw deflate data without the zlib header that the standard requires.
  ['deflate', (head) => (hasZlibHeader(head) ? createInflate() : createInflateRaw())],
]);

const ZLIB_METHOD = 8;

/** Returns whether deflate data has the header of zlib (RFC 1950). */
export const hasZlibHeader = (head: Buffer): boolean => ((head[0] ?? 0) & 0x0f) === ZLIB_METHOD;

/** Returns the content coding of a response in lower case; null for none. */
export function contentCoding(headers: Readonly<Record<string, unknown>>): string | null {
  const value = headers['content-encoding'];
  if (value === undefined) return null;
  const codings = String(value)
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? null : codings.join(', ');
}

/** The bytes of a response do not have the content coding that its head names. */
export class UndecodableResponse extends Error {}

/**
 * Decodes a response for `handler` as it arrives, with backpressure. Removes the headers that describe the
 * encoded bytes. A response without a coding, or with one that cannot be decoded, passes unchanged. Encoded
 * bytes that are invalid or incomplete end it with an `UndecodableResponse`.
 */
export class ResponseDecoder implements OutboundHandler {
  readonly #handler: OutboundHandler;
  #create: ((head: Buffer) => Transform) | null = null;
  #decoder: Transform | null = null;
  #isOver = false;

  constructor(handler: OutboundHandler) {
    this.#handler = handler;
  }

  onRequestStart(controller: OutboundController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(controller: OutboundController, status: number, headers: Headers, text?: string): void {
    const coding = status < 200 ? null : contentCoding(headers);
    this.#create = coding === null ? null : (DECODERS.get(coding) ?? null);
    if (this.#create === null) {
      this.#handler.onResponseStart?.(controller, status, headers, text);
      return;
    }
    const { 'content-encoding': _, 'content-length': __, ...rest } = headers;
    this.#handler.onResponseStart?.(controller, status, rest, text);
  }

  onResponseData(controller: OutboundController, chunk: Buffer): void {
    if (this.#create === null) {
      this.#handler.onResponseData?.(controller, chunk);
      return;
    }
    if (this.#isOver || chunk.length === 0) return;
    this.#decoder ??= this.#open(this.#create(chunk), controller);
    const decoder = this.#decoder;
    if (decoder.write(chunk)) return;
    controller.pause();
    decoder.once('drain', () => controller.resume());
  }

  onResponseEnd(controller: OutboundController, trailers: Trailers): void {
    if (this.#decoder === null) {
      this.#handler.onResponseEnd?.(controller, trailers);
      return;
    }
    this.#decoder.once('end', () => {
      if (!this.#isOver) this.#handler.onResponseEnd?.(controller, trailers);
    });
    this.#decoder.end();
  }

  onResponseError(controller: OutboundController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decoder?.destroy();
    this.#handler.onResponseError?.(controller, error);
  }

  #open(decoder: Transform, controller: OutboundController): Transform {
    const control = new DecodingController(controller, decoder);
    decoder.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.#handler.onResponseData?.(control, chunk);
    });
    decoder.once('error', (cause: Error) => {
      const error = new UndecodableResponse('The response cannot be decoded.', { cause });
      this.onResponseError(controller, error);
      controller.abort(error);
    });
    return decoder;
  }
}

/** Pauses the decoded bytes instead of the connection; the decoder then pauses the connection. */
class DecodingController implements OutboundController {
  readonly #connection: OutboundController;
  readonly #decoder: Transform;

  constructor(connection: OutboundController, decoder: Transform) {
    this.#connection = connection;
    this.#decoder = decoder;
  }

  get aborted(): boolean {
    return this.#connection.aborted;
  }

  get paused(): boolean {
    return this.#decoder.isPaused();
  }

  get reason(): Error | null {
    return this.#connection.reason;
  }

  abort(reason: Error): void {
    this.#connection.abort(reason);
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }
}
