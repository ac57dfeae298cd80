import { createHmac, randomBytes } from 'node:crypto';
import { canonicalIp } from '../lib/net/ip-address.ts';
import { isLoopback, isPrivate } from './addresses.ts';
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
  /** What has been seen within the last hour and is so still under these settings. */
  cause(forwarding: Forwarding): SharedAddressCause | null;
}

/** How long a sighting counts. */
const HOUR_MS = 3_600_000;
/** Proxies that are told apart. */
const MAX_PEERS = 16;
/** While a sighting is this young, nothing more is looked at. */
const FRESH_MS = 10_000;

/** Why this request's caller is not told from others; null where the peer may be the caller himself. */
function causeFor(peer: string, { trust, proxies }: Forwarding): SharedAddressCause | null {
  if (!trust) return isLoopback(peer) || isPrivate(peer) ? 'untrusted' : null;
  return isTrustedForwarder(peer, proxies) ? null : 'unlisted';
}

/** The entry that the peer itself wrote; null when it is no address. */
function namedCaller(rawHeaders: readonly string[]): string | null {
  const header = firstHeader(rawHeaders, 'x-forwarded-for');
  return header === undefined ? null : forwardedEntry(header.slice(header.lastIndexOf(',') + 1).trim());
}

/**
 * Sees when one peer speaks for two callers and they count as one (one who guesses keys would lock out the others). No address is
 * kept: only keyed digests of at most 16 peers and of one caller of each, for an hour, under a key that nobody ever learns.
 */
export function createSharedAddressDetector(
  clock: () => number = () => performance.now(),
): SharedAddressDetector {
  const secret = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', secret).update(text).digest('base64url').slice(0, 16);
  const callers = new Map<string, { caller: string; at: number }>();
  const observedAt: Record<SharedAddressCause, number> = { untrusted: -Infinity, unlisted: -Infinity };

  const remember = (key: string, caller: string, at: number): void => {
    callers.delete(key);
    callers.set(key, { caller, at });
    for (const oldest of callers.keys()) {
      if (callers.size <= MAX_PEERS) return;
      callers.delete(oldest);
    }
  };

  return {
    observe({ peer, rawHeaders }, forwarding) {
      const named = namedCaller(rawHeaders);
      const kind = named === null ? null : causeFor(peer, forwarding);
      const now = clock();
      if (named === null || kind === null || now - observedAt[kind] < FRESH_MS) return;
      const key = digest(`${kind} ${canonicalIp(peer) ?? peer}`);
      const caller = digest(named);
      const known = callers.get(key);
      if (known === undefined || now - known.at > HOUR_MS) return remember(key, caller, now);
      if (known.caller !== caller) observedAt[kind] = now;
    },
    cause({ trust }) {
      const kind: SharedAddressCause = trust ? 'unlisted' : 'untrusted';
      return clock() - observedAt[kind] <= HOUR_MS ? kind : null;
    },
  };
}
