import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Outbound, OutboundController } from '../../lib/net/outbound.ts';
import { type Hop, type HubEndpoint, hubHop, MAX_HOPS, nextHop, RefusedHop } from './hop.ts';

/** A response whose body is read at the pace of its reader. */
export interface HubResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The headers of the hub itself, before a redirect. */
  readonly hubHeaders: IncomingHttpHeaders;
  readonly url: string;
  /** Whether the hub itself responded, which receives the token. */
  readonly own: boolean;
  /** Must be read completely or destroyed. It also ends when the connection breaks. */
  readonly body: Readable;
  /** Returns why the body ended early. Null when it is complete. Data before the failure is valid. */
  failure(): Error | null;
}

export interface HubRequest {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly endpoint: HubEndpoint;
  /** Path below the hub's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum milliseconds without data. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NAME = 'svc-gateway';

/**
 * Sends a request to the hub and follows its redirects, checking each one: the token goes only to the hub,
 * and every other host must have a public address. Rejects with RefusedHop, the connection error, or the
 * signal's reason.
 */
export async function requestHub(request: HubRequest): Promise<HubResponse> {
  const { endpoint } = request;
  let hop = hubHop(endpoint, request.path);
  let hubHeaders: IncomingHttpHeaders = {};
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const answer = await requestOnce(request, hop);
    if (hop.own) hubHeaders = answer.headers;
    if (!REDIRECTS.has(answer.status)) return { ...answer, hubHeaders, url: hop.url.href, own: hop.own };
    answer.body.destroy();
    hop = nextHop(endpoint, hop, answer.headers.location);
  }
  throw new RefusedHop(`the hub redirects more than ${MAX_HOPS} times`);
}

function headersFor({ endpoint, headers }: HubRequest, hop: Hop): string[] {
  const all = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': NAME,
    ...headers,
    ...(hop.own && endpoint.token !== null ? { authorization: `Bearer ${endpoint.token}` } : {}),
  };
  return Object.entries(all).flat();
}

type OpenedResponse = Pick<HubResponse, 'status' | 'headers' | 'body' | 'failure'>;

function requestOnce(request: HubRequest, hop: Hop): Promise<OpenedResponse> {
  const { outbound, idleMs, signal } = request;
  const { promise, resolve, reject } = Promise.withResolvers<OpenedResponse>();
  let controller: OutboundController | null = null;
  let broken: Error | null = null;
  const body = new Readable({
    read: () => controller?.resume(),
    destroy(error, done) {
      signal.removeEventListener('abort', stop);
      controller?.abort(error ?? new Error('no longer needed'));
      done(error);
    },
  });
  // The reader may be gone when an error occurs.
  body.on('error', () => {});
  const stop = () => {
    const reason = signal.reason instanceof Error ? signal.reason : new Error('aborted');
    reject(reason);
    body.destroy(reason);
  };
  outbound.dispatch(
    {
      origin: hop.url.origin,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: 'GET',
      headers: headersFor(request, hop),
      body: null,
      idleMs,
      publicOnly: !hop.own && hop.isStorage !== true,
    },
    {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted || body.destroyed) stop();
      },
      onResponseStart(_, status, headers) {
        if (status >= 200) resolve({ status, headers, body, failure: () => broken });
      },
      onResponseData(current, chunk) {
        if (!body.push(chunk)) current.pause();
      },
      onResponseEnd() {
        signal.removeEventListener('abort', stop);
        controller = null;
        body.push(null);
      },
      onResponseError(_, error) {
        signal.removeEventListener('abort', stop);
        controller = null;
        broken = error;
        reject(error);
        if (!body.destroyed) body.push(null);
      },
    },
  );
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return promise;
}
