import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { isLoopback, isPublic } from '../auth/addresses.ts';
import type { Log } from '../lib/log.ts';
import { canonicalIp, wildcardFamily } from '../lib/net/ip-address.ts';
import { SetupError } from '../lib/setup-error.ts';
import type { Settings } from '../settings/settings.ts';

type Interfaces = typeof networkInterfaces;

/** The addresses of this machine that a listener takes which is bound to all of them. */
function ownAddresses(bindFamily: 'IPv4' | 'IPv6', interfaces: Interfaces): string[] {
  return Object.values(interfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family }) => bindFamily === 'IPv6' || family === 'IPv4')
    .map(({ address }) => address);
}

/** What a name stands for, and a number that only the resolver takes for an address (`0`); none when it does not resolve. */
async function resolveHost(bindHost: string): Promise<string[]> {
  if (canonicalIp(bindHost) !== null) return [bindHost];
  const found = await lookup(bindHost, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** The addresses that a bind host stands for on this machine; none for a name that does not resolve. */
async function boundAddresses(bindHost: string, interfaces: Interfaces): Promise<string[]> {
  const found = await resolveHost(bindHost);
  return found.flatMap((address) => {
    const family = wildcardFamily(address);
    return family === null ? [address] : ownAddresses(family, interfaces);
  });
}

/** Whether callers from the internet could reach a gateway that listens there. Never rejects. */
export async function isOnTheInternet(
  bindHost: string,
  interfaces: Interfaces = networkInterfaces,
): Promise<boolean> {
  return (await boundAddresses(bindHost, interfaces)).some(isPublic);
}

/** Addresses of this machine in its own networks, under which other devices would reach it. */
export function networkAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
}

/**
 * Looks at where the gateway is about to listen while enforcement is off: a publicly routable address is refused
 * (SetupError), unless `[security].allow_public_without_auth` says that this is meant; any other address that is not
 * loopback is noted in the log.
 */
export async function assertExposureAllowed(
  settings: Pick<Settings, 'value'>,
  log: Log,
  bindHost: string = settings.value('bindHost'),
  interfaces: Interfaces = networkInterfaces,
): Promise<void> {
  if (settings.value('requireAuth')) return;
  const addresses = await boundAddresses(bindHost, interfaces);
  if (addresses.some(isPublic) && !settings.value('allowPublicWithoutAuth')) {
    throw new SetupError(
      `${bindHost} is reachable from the internet and enforcement is off.`,
      'Set SVC_ADMIN_KEY and SVC_REQUIRE_AUTH=on in api.env, bind another address, or set [security].allow_public_without_auth = true.',
    );
  }
  if (addresses.every(isLoopback)) return;
  log.warn(
    { event: 'exposed', bind_host: bindHost },
    'the gateway listens on the network and no key is required',
  );
}
