import { type BlockList, isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { memoize } from '../async/memoize.ts';

/**
 * What kind of network an address belongs to. `private`: a home or company network, or an overlay such as a VPN.
 * `unroutable`: no single host has the address. `reserved`: not routed on the internet, or a tunnel that may lead into a
 * private network. `documentation`: for examples only.
 */
type NetworkKind =
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'unroutable'
  | 'nat64'
  | 'reserved'
  | 'documentation'
  | 'public';

/** The ranges of `ipaddr.js`, with those that its types lack. */
type Range =
  | ReturnType<(ipaddr.IPv4 | ipaddr.IPv6)['range']>
  | 'deprecatedOrchid'
  | 'deprecatedSiteLocal'
  | 'discard'
  | 'orchid2'
  | 'segmentRouting';

/** The kinds of the ranges, which follow IANA's special-purpose registries. An unknown range is not public. */
const KIND_OF_RANGE: Record<Range, NetworkKind> = {
  loopback: 'loopback',
  private: 'private',
  carrierGradeNat: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link-local',
  unspecified: 'unroutable',
  broadcast: 'unroutable',
  multicast: 'unroutable',
  ipv4Mapped: 'reserved',
  rfc6052: 'nat64',
  rfc6145: 'reserved',
  '6to4': 'reserved',
  teredo: 'reserved',
  discard: 'reserved',
  benchmarking: 'reserved',
  segmentRouting: 'reserved',
  deprecatedOrchid: 'reserved',
  reserved: 'reserved',
  orchid2: 'public',
  droneRemoteIdProtocolEntityTags: 'public',
  as112: 'public',
  as112v6: 'public',
  amt: 'public',
  unicast: 'public',
};

type Ranges = Record<string, [ipaddr.IPv4 | ipaddr.IPv6, number][]>;
const ranges = (...texts: string[]): [ipaddr.IPv4 | ipaddr.IPv6, number][] =>
  texts.map((text) => ipaddr.parseCIDR(text));

/** Ranges that the library does not distinguish. */
const DETAILS: Ranges = {
  documentation: ranges(
    ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  ),
  // IPv4-compatible addresses (RFC 4291, 2.5.5.1, deprecated) contain an IPv4 address that may be private.
  reserved: ranges('::/96'),
};
/** Where clouds provide credentials to their machines, besides link-local addresses. */
const CREDENTIALS: Ranges = { credentials: ranges('100.100.100.200/32', 'fd00:ec2::/32') };
/** NAT64 with the well-known prefix (RFC 6052): the last four bytes are the IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Returns one canonical text per address: IPv4-mapped IPv6 becomes IPv4, other IPv6 its shortest form, a zone
 * id is removed. Returns null for text that is not an address.
 */
export function canonicalIp(text: string): string | null {
  if (isIPv4(text)) return text;
  const zone = text.indexOf('%');
  const bare = zone === -1 ? text : text.slice(0, zone);
  if (isIP(bare) !== 6) return null;
  // The library reads `::1.2.3.4` as IPv4-mapped. The URL standard writes it without dots.
  return ipaddr.process(new URL(`http://[${bare}]/`).hostname.slice(1, -1)).toString();
}

/**
 * Returns the family of addresses that a listener on `bindHost` accepts if it is a wildcard address in any
 * notation (`::0`, `::ffff:0.0.0.0`). Returns null for a specific address and for a name. An IPv6 wildcard
 * also accepts IPv4.
 */
export function wildcardFamily(bindHost: string): 'IPv4' | 'IPv6' | null {
  const address = canonicalIp(bindHost);
  if (address === '0.0.0.0') return 'IPv4';
  return address === '::' ? 'IPv6' : null;
}

/** An address range. A single address has the full prefix length. */
export interface Subnet {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses an address or a CIDR range. Returns null for any other text. */
export function subnetOf(text: string): Subnet | null {
  const slash = text.indexOf('/');
  const address = canonicalIp(slash === -1 ? text : text.slice(0, slash));
  if (address === null) return null;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const maxBits = family === 'ipv4' ? 32 : 128;
  const bits = slash === -1 ? maxBits : prefixBits(text.slice(slash + 1));
  return bits === null || bits > maxBits ? null : { address, bits, family };
}

const prefixBits = (text: string): number | null => (/^[0-9]{1,3}$/.test(text) ? Number(text) : null);

/** Adds an address or a CIDR range to a list; false when the text is neither. */
export function addSubnet(list: BlockList, text: string): boolean {
  const subnet = subnetOf(text);
  if (subnet === null) return false;
  list.addSubnet(subnet.address, subnet.bits, subnet.family);
  return true;
}

/** Returns true if the list contains the address. Returns false for a text that is not an address. */
export function contains(list: BlockList, text: string): boolean {
  const address = canonicalIp(text);
  return address !== null && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Returns the kind of network of an address; null for text that is not an address. */
const networkKind = memoize((text): NetworkKind | null => {
  const canonical = canonicalIp(text);
  if (canonical === null) return null;
  const address = ipaddr.parse(canonical);
  const range = address.range();
  const isDetailed = range === 'unicast' || range === 'reserved';
  const detail = isDetailed ? ipaddr.subnetMatch(address, DETAILS, range) : range;
  return detail === 'documentation' ? detail : KIND_OF_RANGE[detail as Range];
}, 128);

/** Whether the address belongs to this machine alone. */
export const isLoopback = (address: string): boolean =>
  address === '127.0.0.1' || networkKind(address) === 'loopback';

/** Whether the address belongs to a network that the internet does not route to. Loopback is not private. */
export function isPrivate(address: string): boolean {
  const kind = networkKind(address);
  return kind === 'private' || kind === 'link-local';
}

/**
 * Whether a listener on the address can be reached from the internet. Documentation networks count as reachable: nothing
 * should listen there, and the caller protects the listener.
 */
export function isPublic(address: string): boolean {
  const kind = networkKind(address);
  return kind === 'public' || kind === 'documentation';
}

/**
 * Returns the address that a connection to a URL host leads to, without brackets: for NAT64 the IPv4 address behind it.
 * Null for a name.
 */
function destinationOf(host: string): string | null {
  const canonical = canonicalIp(host.replace(/^\[|\]$/g, ''));
  if (canonical === null || isIPv4(canonical)) return canonical;
  const address = ipaddr.IPv6.parse(canonical);
  return address.match(NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(12)).toString() : canonical;
}

/**
 * Returns whether the gateway never connects to this address: unspecified, link-local, multicast, and
 * addresses where clouds provide credentials to their machines (169.254.169.254, fd00:ec2::254 and similar).
 * False for a name.
 */
export function isUnreachable(host: string): boolean {
  const address = destinationOf(host);
  if (address === null) return false;
  const kind = networkKind(address);
  if (kind === 'link-local' || kind === 'unroutable') return true;
  return ipaddr.subnetMatch(ipaddr.parse(address), CREDENTIALS, 'other') === 'credentials';
}

/**
 * Returns whether this address is unreachable by rule, or is not routed on the internet. False for a name.
 */
export function isNotPublic(host: string): boolean {
  const address = destinationOf(host);
  return address !== null && networkKind(address) !== 'public';
}

/** Thrown when a connection was refused because of its destination. */
export class UnreachableAddress extends Error {
  readonly code = 'ERR_UNREACHABLE_ADDRESS';

  constructor() {
    super('it leads to an address that the gateway never connects to');
    this.name = 'UnreachableAddress';
  }
}
