import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Outbound, OutboundController, OutboundRequest } from '../lib/net/outbound.ts';

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. */
  readonly bytes: Buffer;
}

export interface UpstreamQuery {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly request: OutboundRequest;
  /** Longest time for the whole answer, milliseconds. */
  readonly limitMs: number;
  /** Most bytes, before and after decoding. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The answer was larger than is read, or in a coding that nobody knows. */
export class BadResponseError extends Error {}

const DECODERS: Readonly<Record<string, (bytes: Buffer, limit: number) => Promise<Buffer>>> = {
  gzip: (bytes, maxOutputLength) => promisify(gunzip)(bytes, { maxOutputLength }),
  'x-gzip': (bytes, maxOutputLength) => promisify(gunzip)(bytes, { maxOutputLength }),
  deflate: (bytes, maxOutputLength) => promisify(inflate)(bytes, { maxOutputLength }),
  br: (bytes, maxOutputLength) => promisify(brotliDecompress)(bytes, { maxOutputLength }),
};

/**
 * Asks an upstream one small question and reads the whole answer, redirects included as what they are. It is asked for
 * plain bytes; one that compresses all the same is decoded, within the same bound. Rejects with the error of the
 * connection, with BadAnswer, with a TimeoutError, or with the signal's reason.
 */
export async function queryUpstream({ outbound, request, limitMs, maxBytes, signal }: UpstreamQuery) {
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
    },
    onResponseData(current, chunk) {
      bytes += chunk.length;
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
