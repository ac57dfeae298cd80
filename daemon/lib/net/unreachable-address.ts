import { BlockList, isIP } from 'node:net';

const UNREACHABLE = new BlockList();
for (const [address, bits, family] of [
  ['0.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['100.100.100.200', 32, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['255.255.255.255', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['fd00:ec2::', 32, 'ipv6'],
  ['64:ff9b::a9fe:0', 112, 'ipv6'],
] as const) {
  UNREACHABLE.addSubnet(address, bits, family);
}

/**
 * Networks that are not routed on the internet: this machine, private networks, test networks and tunnels
 * into them.
 */
const NOT_PUBLIC = new BlockList();
for (const [address, bits, family] of [
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['2001::', 32, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
] as const) {
  NOT_PUBLIC.addSubnet(address, bits, family);
}

/** Returns `address` without brackets and zone id. */
const bare = (address: string): string => address.replace(/^\[|\]$/g, '').split('%')[0] as string;

/**
 * Returns whether the gateway never connects to this address: unspecified, link-local, multicast, and
 * addresses where clouds provide credentials to their machines (169.254.169.254, fd00:ec2::254 and similar).
 * False for a name.
 */
export function isUnreachable(address: string): boolean {
  const plain = bare(address);
  const family = isIP(plain);
  return family !== 0 && UNREACHABLE.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Returns whether this address is unreachable by rule, or belongs to this machine or a private network. False
 * for a name.
 */
export function isNotPublic(address: string): boolean {
  const plain = bare(address);
  const family = isIP(plain);
  return family !== 0 && (isUnreachable(plain) || NOT_PUBLIC.check(plain, family === 6 ? 'ipv6' : 'ipv4'));
}

/** Thrown when a connection was refused because of its destination. */
export class UnreachableAddress extends Error {
  readonly code = 'ERR_UNREACHABLE_ADDRESS';

  constructor() {
    super('it leads to an address that the gateway never connects to');
    this.name = 'UnreachableAddress';
  }
}
