import type { Outbound } from '../../lib/net/outbound.ts';
import type { HubEndpoint } from './hop.ts';
import { requestHub } from './hub-exchange.ts';
import { codeOf, HubStatus, retryAfterOf } from './hub-status.ts';

export interface HubFetchOptions {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly endpoint: HubEndpoint;
  /** Maximum milliseconds for one complete response. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Maximum bytes of an API response. A page of a large repository has some hundred KiB. */
const MAX_BYTES = 8 << 20;

/** The response exceeds the maximum size. */
export class ResponseTooLarge extends Error {
  override readonly name = 'LongAnswer';
}

/**
 * The `fetch` function of the hub's client library: only GET below the hub's address, limited in time and
 * size, with this gateway's token. Rejects with HubStatus for a refusal of the hub.
 */
export function hubFetch({ outbound, endpoint, limitMs, signal }: HubFetchOptions): typeof globalThis.fetch {
  return async (input) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    const base = new URL(endpoint.url);
    const prefix = base.pathname.replace(/\/$/, '');
    const path = url.origin === base.origin ? `${url.pathname}${url.search}` : null;
    if (path === null || !path.startsWith(`${prefix}/`))
      throw new TypeError('the hub refers to an address on another host');
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const answer = await requestHub({
      outbound,
      endpoint: endpoint,
      path: path.slice(prefix.length),
      headers: { accept: 'application/json' },
      idleMs: limitMs,
      signal: limit,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BYTES) throw new ResponseTooLarge('the answer of the hub is too large');
      chunks.push(chunk as Buffer);
    }
    const failure = answer.failure();
    if (failure !== null) throw failure;
    if (answer.status >= 400) {
      const withToken = answer.own && endpoint.token !== null;
      throw new HubStatus(answer.status, codeOf(answer.headers), {
        retryAfterS: retryAfterOf(answer.headers),
        withToken,
      });
    }
    return new Response([204, 304].includes(answer.status) ? null : Buffer.concat(chunks), {
      status: answer.status,
      headers: plainHeaders(answer.headers),
    });
  };
}

/** Returns the headers that the library reads. */
function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return ['content-type', 'link'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
}
