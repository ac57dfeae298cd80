import { hostname, networkInterfaces } from 'node:os';
import { canonicalIp, everyAddress } from './ip-address.ts';

/** By what this machine is known. */
export interface OwnMachine {
  addresses(): readonly string[];
  name(): string;
}

const THIS: OwnMachine = {
  addresses: () =>
    Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)),
  name: hostname,
};

/**
 * The host that `url` names when it is another machine than this one; null for loopback, an address or the name of this
 * machine, and for what is no URL. No name is looked up: whoever answers for one could be anybody.
 */
export function foreignHost(url: string, machine: OwnMachine = THIS): string | null {
  if (!URL.canParse(url)) return null;
  const host = new URL(url).hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const address = canonicalIp(host);
  const own = address === null ? isOwnName(host, machine) : isOwnAddress(address, machine);
  return own ? null : host;
}

function isOwnName(host: string, machine: OwnMachine): boolean {
  const full = machine.name().toLowerCase();
  return host === 'localhost' || host === full || host === full.split('.')[0];
}

function isOwnAddress(address: string, machine: OwnMachine): boolean {
  if (address.startsWith('127.') || address === '::1' || everyAddress(address) !== null) return true;
  return machine.addresses().some((each) => canonicalIp(each) === address);
}
