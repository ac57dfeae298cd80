import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

export interface SelfAddressDeps {
  /** Returns all addresses of a name. Rejects when it has none. */
  addresses(name: string): Promise<readonly string[]>;
  /** Returns all addresses of this machine. */
  own(): ReadonlySet<string>;
}

const DEFAULT_DEPS: SelfAddressDeps = {
  addresses: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  own: () =>
    new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))),
};

const DEFAULT_PORT: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Returns whether `url` leads to the listener of this machine on `port`. False for a name that cannot be resolved.
 */
export async function isSelfAddress(
  url: URL,
  port: number,
  deps: SelfAddressDeps = DEFAULT_DEPS,
): Promise<boolean> {
  if (Number(url.port || DEFAULT_PORT[url.protocol]) !== port) return false;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await deps.addresses(name).catch(() => []);
  const own = deps.own();
  return addresses.some((address) => own.has(address) || address.startsWith('127.'));
}
