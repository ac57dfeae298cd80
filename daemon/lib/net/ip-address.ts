import { isIP, isIPv4 } from 'node:net';

/**
 * Returns one canonical text per address: IPv4-mapped IPv6 becomes IPv4, other IPv6 its shortest form, a zone
 * id is removed. Returns null for text that is not an address.
 */
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
