import { BlockList, isIP, isIPv4 } from 'node:net';

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
const NOWHERE = blocks('0.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32', '::/128', 'ff00::/8');

/** Adds an address or a CIDR range to a list; false when the text is neither. */
export function addSubnet(list: BlockList, text: string): boolean {
  const slash = text.indexOf('/');
  const address = canonicalIp(slash === -1 ? text : text.slice(0, slash));
  if (address === null) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bits = slash === -1 ? (family === 'ipv4' ? 32 : 128) : prefixBits(text.slice(slash + 1));
  if (bits === null || bits > (family === 'ipv4' ? 32 : 128)) return false;
  list.addSubnet(address, bits, family);
  return true;
}

function prefixBits(text: string): number | null {
  return /^[0-9]{1,3}$/.test(text) ? Number(text) : null;
}

/** One text per address: IPv4-mapped IPv6 becomes IPv4, other IPv6 its shortest form, a zone id goes; null for no address. */
export function canonicalIp(text: string): string | null {
  if (isIPv4(text)) return text;
  const zone = text.indexOf('%');
  const bare = zone === -1 ? text : text.slice(0, zone);
  if (isIP(bare) !== 6) return null;
  const short = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const high = Number.parseInt(mapped[1] as string, 16);
  const low = Number.parseInt(mapped[2] as string, 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Whether a list holds an address; false for a text that is none. */
export function holds(list: BlockList, text: string): boolean {
  const address = canonicalIp(text);
  return address !== null && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Whether the address belongs to this machine alone. */
export const isLoopback = (address: string): boolean => address === '127.0.0.1' || holds(LOOPBACK, address);

/** Whether the address belongs to a network that the internet does not route to. Loopback is not private. */
export const isPrivate = (address: string): boolean => holds(PRIVATE, address);

/** Whether the address can be reached from the internet: anything that is not known to be unreachable. */
export function isPublic(address: string): boolean {
  return (
    canonicalIp(address) !== null && !isLoopback(address) && !isPrivate(address) && !holds(NOWHERE, address)
  );
}
