import { networkInterfaces } from 'node:os';
import { isPublic } from './auth/addresses.ts';
import { SetupError } from './kit/setup-error.ts';
import type { Settings } from './settings/settings.ts';

/** The addresses that a bind host stands for on this machine. */
function boundAddresses(bindHost: string): string[] {
  const family = bindHost === '0.0.0.0' ? 'IPv4' : bindHost === '::' ? 'any' : null;
  if (!family) return [bindHost];
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter((each) => family === 'any' || each.family === family)
    .map((each) => each.address);
}

/**
 * A publicly routable address with enforcement off is refused (contract section 3), unless
 * `[security].allow_public_without_auth` says that this is meant. Throws SetupError.
 */
export function refusePublicBind(settings: Settings): void {
  if (settings.value('requireAuth') || settings.value('allowPublicWithoutAuth')) return;
  const bindHost = settings.value('bindHost');
  if (!boundAddresses(bindHost).some(isPublic)) return;
  throw new SetupError(
    `${bindHost} is reachable from the internet and enforcement is off.`,
    'Set SVC_ADMIN_KEY and SVC_REQUIRE_AUTH=on in api.env, bind another address, or set [security].allow_public_without_auth = true.',
  );
}
