import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Log } from '../lib/log.ts';
import { canonicalIp, isLoopback, isPublic, wildcardFamily } from '../lib/net/addresses.ts';
import { SetupError } from '../lib/setup-error.ts';
import type { Settings } from '../settings/settings.ts';

type Interfaces = typeof networkInterfaces;

/** Returns the addresses of this machine that a wildcard listener accepts. */
function ownAddresses(bindFamily: 'IPv4' | 'IPv6', interfaces: Interfaces): string[] {
  return Object.values(interfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family }) => bindFamily === 'IPv6' || family === 'IPv4')
    .map(({ address }) => address);
}

/**
 * Resolves a bind host. Also covers numbers that only the resolver reads as an address (`0`). Empty when it
 * does not resolve.
 */
async function resolveHost(bindHost: string): Promise<string[]> {
  if (canonicalIp(bindHost) !== null) return [bindHost];
  const found = await lookup(bindHost, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Returns the addresses of this machine for a bind host. Empty for a name that does not resolve. */
async function boundAddresses(bindHost: string, interfaces: Interfaces): Promise<string[]> {
  const found = await resolveHost(bindHost);
  return found.flatMap((address) => {
    const family = wildcardFamily(address);
    return family === null ? [address] : ownAddresses(family, interfaces);
  });
}

/** Returns whether a gateway that listens on `bindHost` can be reached from the internet. Never rejects. */
export async function isOnTheInternet(
  bindHost: string,
  interfaces: Interfaces = networkInterfaces,
): Promise<boolean> {
  return (await boundAddresses(bindHost, interfaces)).some(isPublic);
}

/** Returns the IPv4 addresses under which other devices in the local networks reach this machine. */
export function networkAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
}

/**
 * Checks the bind address while enforcement is off. Throws SetupError for a publicly routable address, unless
 * `[security].allow_public_without_auth` permits it. Logs a warning for any other address that is not
 * loopback.
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
