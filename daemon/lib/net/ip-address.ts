import { isIP, isIPv4 } from 'node:net';

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

/**
 * Of which family a listener there takes every address of the machine, however the address is spelled (`::0`,
 * `::ffff:0.0.0.0`); null for an address of its own and for a name. One of IPv6 takes callers by IPv4 too.
 */
export function wildcardFamily(bindHost: string): 'IPv4' | 'IPv6' | null {
  const address = canonicalIp(bindHost);
  if (address === '0.0.0.0') return 'IPv4';
  return address === '::' ? 'IPv6' : null;
}
