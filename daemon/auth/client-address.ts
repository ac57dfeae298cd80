import { BlockList } from 'node:net';
import { addSubnet, canonicalIp, contains, isLoopback, isPrivate } from '../lib/net/addresses.ts';
import { allHeaders, isNamed } from './raw-headers.ts';
import type { AuthRequest } from './request.ts';

/** The origin of a request: socket address and raw headers. */
export type PeerInfo = Pick<AuthRequest, 'peer' | 'rawHeaders'>;

/** How far forwarding headers are trusted. */
export interface Forwarding {
  /** `[security].trust_forwarded_for`. */
  readonly trust: boolean;
  /** `[security].trusted_proxies`. */
  readonly proxies: BlockList;
}

export interface ClientAddress {
  /** The address of the caller: limiter key and audit entry. */
  readonly address: string;
  /** `proxy`: taken from X-Forwarded-For. `ignored`: trust is on, but the peer is not a trusted forwarder. */
  readonly from: 'peer' | 'proxy' | 'ignored';
}

const MAX_ENTRIES = 64;
const FORWARDING_HEADERS: ReadonlySet<string> = new Set([
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-original-forwarded-for'],
  ...['true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
]);

/** `[security].trusted_proxies` as a list. The setting accepts addresses and ranges only. */
export function proxyList(entries: readonly string[]): BlockList {
  const proxies = new BlockList();
  for (const entry of entries) addSubnet(proxies, entry);
  return proxies;
}

/** Returns true if the peer may forward for others: it is loopback, private or listed. */
export const isTrustedForwarder = (peer: string, proxies: BlockList): boolean =>
  isLoopback(peer) || isPrivate(peer) || contains(proxies, peer);

/**
 * The address of the caller (docs/spec/contract.md#forwarded-for): the TCP peer with IPv4-mapped addresses
 * folded. With trust on and a peer that may forward, it is the right-most entry of X-Forwarded-For that is
 * not a trusted proxy. An entry that is not an address invalidates the header, and the peer counts.
 */
export function clientAddress(request: PeerInfo, forwarding: Forwarding): ClientAddress {
  const peer = canonicalIp(request.peer) ?? request.peer;
  const entries = forwarding.trust ? allHeaders(request.rawHeaders, 'x-forwarded-for') : [];
  if (entries.length === 0) return { address: peer, from: 'peer' };
  if (!isTrustedForwarder(peer, forwarding.proxies)) return { address: peer, from: 'ignored' };
  const address = rightmostUntrusted(entries.join(','), forwarding.proxies);
  return address === null ? { address: peer, from: 'peer' } : { address, from: 'proxy' };
}

function rightmostUntrusted(header: string, proxies: BlockList): string | null {
  let end = header.length;
  for (let entries = 0; entries < MAX_ENTRIES && end >= 0; entries++) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = forwardedEntry(header.slice(comma + 1, end).trim());
    if (address === null || !contains(proxies, address)) return address;
    end = comma;
  }
  return null;
}

/** The address of one X-Forwarded-For entry: bare, `v4:port`, `[v6]` or `[v6]:port`; null for anything else. */
export function forwardedEntry(entry: string): string | null {
  if (entry.length > 64) return null;
  const bracketed = /^\[([^\]]*)\](?::[0-9]{1,5})?$/.exec(entry);
  if (bracketed) return (bracketed[1] as string).includes(':') ? canonicalIp(bracketed[1] as string) : null;
  const withPort = /^([0-9.]+):[0-9]{1,5}$/.exec(entry);
  return canonicalIp(withPort ? (withPort[1] as string) : entry);
}

/** Returns true if any header shows that a proxy forwarded the request. */
export function isForwarded(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (name.startsWith('x-forwarded') || FORWARDING_HEADERS.has(name)) return true;
  }
  return false;
}

/**
 * Whether the caller counts as another machine for the remote-admin guard. Local is only a loopback peer without any
 * forwarding header, or, with trust on, one that forwards for a loopback address.
 */
export function isRemote(request: PeerInfo, forwarding: Forwarding): boolean {
  if (!isLoopback(request.peer)) return true;
  if (!isForwarded(request.rawHeaders)) return false;
  const caller = clientAddress(request, forwarding);
  return caller.from !== 'proxy' || !isLoopback(caller.address);
}

/**
 * Returns true if a trusted proxy reports TLS (`X-Forwarded-Proto: https`, the entry nearest to the caller).
 */
export function forwardedTls(request: PeerInfo, forwarding: Forwarding): boolean {
  if (!forwarding.trust || !isTrustedForwarder(request.peer, forwarding.proxies)) return false;
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    if (!isNamed(request.rawHeaders[i] as string, 'x-forwarded-proto')) continue;
    return (request.rawHeaders[i + 1] as string).split(',', 1)[0]?.trim().toLowerCase() === 'https';
  }
  return false;
}
