/** Address and token of the hub. */
export interface HubEndpoint {
  /** Without a trailing slash; may have a path. */
  readonly url: string;
  /** Sent only to the hub's own origin. Null when there is none. */
  readonly token: string | null;
  /** Hosts, with or without a port, to which the hub may redirect in a private network or without TLS. */
  readonly storageHosts?: readonly string[];
}

/** One request of a redirect chain. */
export interface Hop {
  readonly url: URL;
  /** True for the configured hub itself. Only it receives the token, and only it may have a private address. */
  readonly own: boolean;
  /** True for a storage that the owner named: it may have a private address. */
  readonly isStorage?: boolean;
}

/** A redirect that is not followed. */
export class RefusedHop extends Error {
  override readonly name = 'RefusedHop';
}

/** Maximum redirects per request. */
export const MAX_HOPS = 5;

/** Returns the URL of `path` on the hub. Throws RefusedHop when it leads out of the hub's origin. */
export function hubHop({ url }: HubEndpoint, path: string): Hop {
  const at = new URL(`${url}${path}`);
  if (at.origin !== new URL(url).origin) throw new RefusedHop('the address leaves the hub');
  return { url: at, own: true };
}

/**
 * Returns the target of a redirect (RFC 9110 section 10.2.2): any https address without credentials; plain
 * HTTP only within the configured hub and to its named storage. Throws RefusedHop.
 */
export function nextHop(endpoint: HubEndpoint, from: Hop, location: string | undefined): Hop {
  if (location === undefined || !URL.canParse(location, from.url.href))
    throw new RefusedHop('the hub redirects to no address');
  const url = new URL(location, from.url);
  if (url.username !== '' || url.password !== '')
    throw new RefusedHop('the hub redirects to an address with credentials');
  const own = url.origin === new URL(endpoint.url).origin;
  const isStorage = !own && isWeb(url) && isStorageHost(url, endpoint.storageHosts ?? []);
  if (!own && !isStorage && url.protocol !== 'https:')
    throw new RefusedHop('the hub redirects to an address without TLS');
  return isStorage ? { url, own, isStorage } : { url, own };
}

const isWeb = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:';

/** A name without a port stands for every port. */
const isStorageHost = ({ host, hostname }: URL, hosts: readonly string[]): boolean =>
  hosts.some((each) => [host, hostname].includes(each.toLowerCase()));
