import { isIPv4 } from 'node:net';
import { canonicalIp } from './ip-address.ts';

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
