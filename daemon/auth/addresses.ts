import { BlockList, isIPv4 } from 'node:net';
import { canonicalIp } from '../lib/net/ip-address.ts';
import { subnetOf } from '../lib/net/subnet.ts';

const blocks = (...subnets: string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) addSubnet(list, subnet);
  return list;
};

const LOOPBACK = blocks('127.0.0.0/8', '::1/128');
/** Addresses of a home or company network, of a link, and of an overlay such as a VPN. */
const PRIVATE = blocks(
  ...[
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '169.254.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    'fe80::/10',
  ],
);
/** Addresses that no caller or listener has on the internet: unspecified and multicast. */
const UNROUTABLE = blocks('0.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32', '::/128', 'ff00::/8');

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

/** Whether the address belongs to this machine alone. */
export const isLoopback = (address: string): boolean =>
  address === '127.0.0.1' || contains(LOOPBACK, address);

/** Whether the address belongs to a network that the internet does not route to. Loopback is not private. */
export const isPrivate = (address: string): boolean => contains(PRIVATE, address);

/** Whether the address can be reached from the internet: anything that is not known to be unreachable. */
export function isPublic(address: string): boolean {
  return (
    canonicalIp(address) !== null &&
    !isLoopback(address) &&
    !isPrivate(address) &&
    !contains(UNROUTABLE, address)
  );
}
