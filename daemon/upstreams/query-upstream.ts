import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { hasZlibHeader } from '../lib/net/decode-response.ts';
import type { Outbound, OutboundController, OutboundRequest } from '../lib/net/outbound.ts';

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. */
  readonly bytes: Buffer;
}

/** Receives the progress of a response, so that the upstream counts as reachable while it sends. */
export interface ResponseObserver {
  /** Called with the status when a response begins. */
  onBegin(status: number): void;
  /** Called when bytes of the response arrive. */
  onData(): void;
}

export interface UpstreamQuery {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly request: OutboundRequest;
  /** Maximum time for the whole response, milliseconds. */
  readonly limitMs: number;
  /** Most bytes, before and after decoding. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly observer?: ResponseObserver | undefined;
}

/** The response was too large, or had an unknown content encoding. */
export class BadResponseError extends Error {}

const DECODERS: Readonly<Record<string, (bytes: Buffer, limit: number) => Promise<Buffer>>> = {
  gzip: (bytes, maxOutputLength) => promisify(gunzip)(bytes, { maxOutputLength }),
  'x-gzip': (bytes, maxOutputLength) => promisify(gunzip)(bytes, { maxOutputLength }),
  // Some servers send raw deflate data without the zlib header that the standard requires.
  deflate: (bytes, maxOutputLength) =>
    promisify(hasZlibHeader(bytes) ? inflate : inflateRaw)(bytes, { maxOutputLength }),
  br: (bytes, maxOutputLength) => promisify(brotliDecompress)(bytes, { maxOutputLength }),
  zstd: (bytes, maxOutputLength) => promisify(zstdDecompress)(bytes, { maxOutputLength }),
};

/**
 * Sends a small request to an upstream and reads the whole response. Redirects are returned, not followed.
 * Requests an uncompressed response, but decodes a compressed one within the same limit. Rejects with the
 * error of the connection, with BadResponseError, with a TimeoutError, or with the signal's reason.
 */
export async function queryUpstream(query: UpstreamQuery): Promise<UpstreamResponse> {
  const { outbound, request, limitMs, maxBytes, signal, observer } = query;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
  const chunks: Buffer[] = [];
  let [status, bytes] = [0, 0];
  let headers: IncomingHttpHeaders = {};
  let controller: OutboundController | null = null;
  const stop = () => {
    reject(limit.reason);
    controller?.abort(limit.reason instanceof Error ? limit.reason : new Error('aborted'));
  };
  outbound.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (limit.aborted) stop();
    },
    onResponseStart(_, code, fields) {
      if (code < 200) return;
      [status, headers] = [code, fields];
      observer?.onBegin(code);
    },
    onResponseData(current, chunk) {
      bytes += chunk.length;
      observer?.onData();
      if (bytes > maxBytes) current.abort(new BadResponseError('Its response is too large.'));
      else chunks.push(chunk);
    },
    onResponseEnd: () => resolve({ status, headers, bytes: Buffer.concat(chunks) }),
    onResponseError: (_, error) => reject(error),
  });
  limit.addEventListener('abort', stop, { once: true });
  try {
    return await decodeBody(await promise, maxBytes);
  } finally {
    limit.removeEventListener('abort', stop);
  }
}

async function decodeBody(answer: UpstreamResponse, maxBytes: number): Promise<UpstreamResponse> {
  const coding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || answer.bytes.length === 0) return answer;
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (!decode) throw new BadResponseError('Its response has an unsupported content encoding.');
  const bytes = await decode(answer.bytes, maxBytes).catch(() => {
    throw new BadResponseError('Its compressed response cannot be decoded.');
  });
  return { ...answer, bytes };
}
