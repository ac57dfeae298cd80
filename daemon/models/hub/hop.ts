/** Where the hub is, and what opens it. */
export interface HubEndpoint {
  /** Without a slash at the end; may have a path. */
  readonly url: string;
  /** Goes to the hub's own origin only; null without one. */
  readonly token: string | null;
}

/** One place that is asked: of a chain of redirects, the next link. */
export interface Hop {
  readonly url: URL;
  /** Whether it is the configured hub itself: only it hears the token, and only it may have a private address. */
  readonly own: boolean;
}

/** A redirect that is not followed. */
export class RefusedHop extends Error {
  override readonly name = 'RefusedHop';
}

/** Redirects of one request that are followed. */
export const MAX_HOPS = 5;

/** A place on the hub itself. Throws RefusedHop when `path` leads out of the hub's origin. */
export function hubHop({ url }: HubEndpoint, path: string): Hop {
  const at = new URL(`${url}${path}`);
  if (at.origin !== new URL(url).origin) throw new RefusedHop('the address leaves the hub');
  return { url: at, own: true };
}

/**
 * Where a redirect leads to (RFC 9110 section 10.2.2): anywhere over https without credentials in the address, over plain
 * HTTP only within the configured hub. Throws RefusedHop.
 */
export function nextHop(endpoint: HubEndpoint, from: Hop, location: string | undefined): Hop {
  if (location === undefined || !URL.canParse(location, from.url.href))
    throw new RefusedHop('the hub redirects to no address');
  const url = new URL(location, from.url);
  if (url.username !== '' || url.password !== '')
    throw new RefusedHop('the hub redirects to an address with credentials');
  const own = url.origin === new URL(endpoint.url).origin;
  if (!own && url.protocol !== 'https:') throw new RefusedHop('the hub redirects to a place without TLS');
  return { url, own };
}
