import { subnetOf } from '../lib/net/subnet.ts';
import type { Parsed } from './setting-types.ts';

/** An address or a CIDR range that the list of proxies can hold; kept as it is written. */
export function proxyAddress(entry: string): Parsed<string> {
  if (subnetOf(entry) !== null) return { ok: true, value: entry };
  return { ok: false, reason: 'is no address or range like 192.168.1.2 or 10.8.0.0/24' };
}
