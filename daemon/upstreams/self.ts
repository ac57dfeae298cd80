import { hostname, networkInterfaces } from 'node:os';
import { normalName } from '../auth/authority.ts';
import { canonicalIp, isLoopback, wildcardFamily } from '../lib/net/addresses.ts';
import type { BaseUrl } from './base-url.ts';

/** Where this gateway listens. */
export interface OwnAddress {
  readonly bindHost: string;
  readonly port: number;
}

/** The addresses of this machine. */
export function ownAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => canonicalIp(address) ?? address));
}

function ownNames(): string[] {
  const full = normalName(hostname());
  return full === null ? [] : [full, full.split('.')[0] as string];
}

/**
 * Returns true if an address is certainly that of this gateway: its port, and a host on which it listens. An
 * indirect way (another name, a proxy) is detected by its first response instead.
 */
export function isOwnAddress(at: BaseUrl, { bindHost, port }: OwnAddress, addresses = ownAddresses): boolean {
  if (at.port !== port || at.origin.startsWith('https:')) return false;
  const host = canonicalIp(at.host.replace(/^\[|\]$/g, '')) ?? at.host;
  const bound = canonicalIp(bindHost) ?? bindHost;
  if (host === bound) return true;
  const everywhere = wildcardFamily(bound) !== null;
  if (host === 'localhost' || isLoopback(host))
    return everywhere || bound === 'localhost' || (host !== '::1' && isLoopback(bound));
  return (everywhere && addresses().has(host)) || (!isLoopback(bound) && ownNames().includes(host));
}
