import { subnetOf } from '../lib/net/addresses.ts';
import type { Parsed } from './setting-types.ts';

/** Accepts an address or a CIDR range for the list of proxies, and returns it unchanged. */
export function proxyAddress(entry: string): Parsed<string> {
  if (subnetOf(entry) !== null) return { ok: true, value: entry };
  return { ok: false, reason: 'is not an address or range such as 192.168.1.2 or 10.8.0.0/24' };
}
