import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { GatewayError } from '../contract/errors.ts';

/** The content codings of request bodies (docs/spec/contract.md#content-coding). */
const CODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const;
export type ContentCoding = (typeof CODINGS)[number];

/** Names of the same coding (RFC 9110 section 8.4.1.3). */
const ALIASES: ReadonlyMap<string, ContentCoding> = new Map([
  ...CODINGS.map((coding) => [coding, coding] as const),
  ['x-gzip', 'gzip'],
]);

const CHUNK_BYTES = 64 * 1024;
/** Window of zstd that a decoder may allocate: 8 MiB, the limit for HTTP (RFC 9659). */
const ZSTD_WINDOW_LOG = 23;

/**
 * Returns the coding of a request body; null for none. Throws 415 with `Accept-Encoding` for any other coding,
 * for several, and for every coding when `accepted` is false.
 */
export function contentCoding(
  req: Pick<IncomingMessage, 'headers'>,
  accepted: boolean,
): ContentCoding | null {
  const header = req.headers['content-encoding'];
  if (header === undefined) return null;
  const name = header.trim().toLowerCase();
  if (name === 'identity') return null;
  const coding = accepted ? ALIASES.get(name) : undefined;
  if (coding !== undefined) return coding;
  throw new GatewayError('request.unsupported_type', {
    message: accepted
      ? `The content coding of the body is not supported. Send the body plain, or in one of ${CODINGS.join(', ')}.`
      : 'This route takes no content coding. Send the body plain.',
    headers: { 'accept-encoding': accepted ? CODINGS.join(', ') : 'identity' },
  });
}

/** `deflate` means the zlib format; some clients send it without the zlib header. */
const isZlib = (first: number | undefined): boolean => first !== undefined && (first & 0x0f) === 8;

function decoderOf(coding: ContentCoding, first: Buffer): Transform {
  const options = { chunkSize: CHUNK_BYTES };
  if (coding === 'gzip') return createGunzip(options);
  if (coding === 'br') return createBrotliDecompress(options);
  if (coding === 'deflate') return isZlib(first[0]) ? createInflate(options) : createInflateRaw(options);
  return createZstdDecompress({
    ...options,
    params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
  });
}

/** Receives the results of a `BodyDecoder`. After `done` or `failed` nothing follows. */
export interface DecoderEvents {
  /** The decoder accepts more again. */
  drained(): void;
  done(bytes: Buffer): void;
  /** `too-large`: the decoded body is longer than the cap. `invalid`: the bytes are not of this coding. */
  failed(reason: 'too-large' | 'invalid'): void;
}

/**
 * Decodes a body while it is received. At most `cap` decoded bytes are held: a decompression bomb fails as soon
 * as it exceeds them, without being expanded further.
 */
export class BodyDecoder {
  readonly #coding: ContentCoding;
  readonly #cap: number;
  readonly #events: DecoderEvents;
  #decoder: Transform | null = null;
  #parts: Buffer[] = [];
  #length = 0;
  #over = false;

  constructor(coding: ContentCoding, cap: number, events: DecoderEvents) {
    this.#coding = coding;
    this.#cap = cap;
    this.#events = events;
  }

  /** Returns false when the sender must wait for `drained`. */
  push(chunk: Buffer): boolean {
    if (this.#over || chunk.length === 0) return true;
    this.#decoder ??= this.#start(chunk);
    return this.#decoder.write(chunk);
  }

  /** The coded body is complete. An empty one is empty in every coding. */
  end(): void {
    if (this.#over) return;
    if (this.#decoder === null) this.#finish();
    else this.#decoder.end();
  }

  /** Releases everything. Call it when the rest will not arrive. */
  discard(): void {
    this.#over = true;
    this.#parts = [];
    this.#decoder?.destroy();
  }

  #start(first: Buffer): Transform {
    const decoder = decoderOf(this.#coding, first);
    decoder.on('data', (part: Buffer) => this.#collect(part));
    decoder.on('drain', () => this.#events.drained());
    decoder.on('end', () => this.#finish());
    decoder.on('error', () => this.#fail('invalid'));
    return decoder;
  }

  #collect(part: Buffer): void {
    if (this.#over) return;
    this.#length += part.length;
    if (this.#length > this.#cap) this.#fail('too-large');
    else this.#parts.push(part);
  }

  #finish(): void {
    if (this.#over) return;
    const bytes = Buffer.concat(this.#parts, this.#length);
    this.discard();
    this.#events.done(bytes);
  }

  #fail(reason: 'too-large' | 'invalid'): void {
    if (this.#over) return;
    this.discard();
    this.#events.failed(reason);
  }
}
