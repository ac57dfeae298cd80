import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { canonicalIp, isLoopback, isPrivate } from '../lib/net/addresses.ts';
import { type Forwarding, forwardedEntry, isTrustedForwarder, type PeerInfo } from './client-address.ts';
import { firstHeader } from './raw-headers.ts';

/**
 * Why several callers count as one address. `untrusted`: a proxy names them, and X-Forwarded-For is not read. `unlisted`: it is
 * read, but not from this proxy, whose address is public and not listed.
 */
export type SharedAddressCause = 'untrusted' | 'unlisted';

export interface SharedAddressDetector {
  /** Looks at one request. */
  observe(request: PeerInfo, forwarding: Forwarding): void;
  /** Returns the cause observed within the last hour, if it still applies under these settings. */
  cause(forwarding: Forwarding): SharedAddressCause | null;
}

/** How long a sighting counts. */
const HOUR_MS = 3_600_000;
/** Maximum number of proxies that are distinguished. */
const MAX_PEERS = 16;
/** No further requests are inspected for this long after an observation. */
const FRESH_MS = 10_000;

/**
 * Returns why this caller is not distinguished from others. Returns null when the peer may be the caller
 * itself.
 */
function causeFor(peer: string, { trust, proxies }: Forwarding): SharedAddressCause | null {
  if (!trust) return isLoopback(peer) || isPrivate(peer) ? 'untrusted' : null;
  return isTrustedForwarder(peer, proxies) ? null : 'unlisted';
}

/** Returns the entry that the peer itself wrote, or null when it is not an address. */
function namedCaller(rawHeaders: readonly string[]): string | null {
  const header = firstHeader(rawHeaders, 'x-forwarded-for');
  return header === undefined ? null : forwardedEntry(header.slice(header.lastIndexOf(',') + 1).trim());
}

/**
 * Detects that one peer forwards for two callers that count as one address; a caller that guesses keys would
 * lock out the others. Stores no address: only keyed digests of at most 16 peers and one caller of each, for
 * an hour, under a random key that never leaves this object.
 */
export function createSharedAddressDetector(
  clock: () => number = () => performance.now(),
): SharedAddressDetector {
  const secret = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', secret).update(text).digest('base64url').slice(0, 16);
  const callers = new LRUCache<string, { caller: string; at: number }>({ max: MAX_PEERS });
  const observedAt: Record<SharedAddressCause, number> = { untrusted: -Infinity, unlisted: -Infinity };

  return {
    observe({ peer, rawHeaders }, forwarding) {
      const named = namedCaller(rawHeaders);
      const kind = named === null ? null : causeFor(peer, forwarding);
      const now = clock();
      if (named === null || kind === null || now - observedAt[kind] < FRESH_MS) return;
      const key = digest(`${kind} ${canonicalIp(peer) ?? peer}`);
      const caller = digest(named);
      const known = callers.peek(key);
      if (known === undefined || now - known.at > HOUR_MS) callers.set(key, { caller, at: now });
      else if (known.caller !== caller) observedAt[kind] = now;
    },
    cause({ trust }) {
      const kind: SharedAddressCause = trust ? 'unlisted' : 'untrusted';
      return clock() - observedAt[kind] <= HOUR_MS ? kind : null;
    },
  };
}
