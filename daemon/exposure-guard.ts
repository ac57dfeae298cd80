import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { canonicalIp, isLoopback, isPublic } from './auth/addresses.ts';
import type { Log } from './kit/log.ts';
import { SetupError } from './kit/setup-error.ts';
import type { Settings } from './settings/settings.ts';

const EVERY_ADDRESS: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0': ['IPv4'],
  '::': ['IPv4', 'IPv6'],
};

/** The addresses that a bind host stands for on this machine; none for a name that does not resolve. */
async function boundAddresses(bindHost: string): Promise<string[]> {
  const families = EVERY_ADDRESS[bindHost];
  if (families) {
    return Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter((each) => families.includes(each.family))
      .map((each) => each.address);
  }
  if (canonicalIp(bindHost) !== null) return [bindHost];
  const found = await lookup(bindHost, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Whether callers from the internet could reach a gateway that listens there. Never rejects. */
export async function isOnTheInternet(bindHost: string): Promise<boolean> {
  return (await boundAddresses(bindHost)).some(isPublic);
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
export async function guardExposure(
  settings: Pick<Settings, 'value'>,
  log: Log,
  bindHost: string = settings.value('bindHost'),
): Promise<void> {
  if (settings.value('requireAuth')) return;
  const addresses = await boundAddresses(bindHost);
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
