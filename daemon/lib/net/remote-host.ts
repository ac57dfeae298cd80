import { hostname, networkInterfaces } from 'node:os';
import { canonicalIp, wildcardFamily } from './addresses.ts';

/** Addresses and name of this machine. */
export interface LocalMachine {
  addresses(): readonly string[];
  name(): string;
}

const THIS_MACHINE: LocalMachine = {
  addresses: () =>
    Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)),
  name: hostname,
};

/**
 * Returns the host of `url` if it is another machine. Returns null for loopback, an address or the name of
 * this machine, and for text that is not a URL. Does not resolve names, because the response of a resolver
 * cannot be trusted.
 */
export function remoteHostOf(url: string, machine: LocalMachine = THIS_MACHINE): string | null {
  if (!URL.canParse(url)) return null;
  const host = new URL(url).hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const address = canonicalIp(host);
  const own = address === null ? isOwnName(host, machine) : isOwnAddress(address, machine);
  return own ? null : host;
}

function isOwnName(host: string, machine: LocalMachine): boolean {
  const full = machine.name().toLowerCase();
  return host === 'localhost' || host === full || host === full.split('.')[0];
}

function isOwnAddress(address: string, machine: LocalMachine): boolean {
  if (address.startsWith('127.') || address === '::1' || wildcardFamily(address) !== null) return true;
  return machine.addresses().some((each) => canonicalIp(each) === address);
}
