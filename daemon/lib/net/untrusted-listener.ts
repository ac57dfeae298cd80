import { statSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalIp } from './addresses.ts';
import { addressOf } from './inherited-listener.ts';
import { listeningSockets, readListening } from './listening-sockets.ts';

interface Listener {
  readonly host: string | null;
  readonly user: number;
}

/** Returns a port as the kernel writes it after an address. */
const portMark = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')} `;

/** Returns the listeners on a port from `/proc/net/tcp` or `tcp6`. Empty where the kernel does not provide it. */
const listenersAt = (wanted: number, file: string): Listener[] =>
  listeningSockets(readListening(file) ?? '', portMark(wanted))
    .map(([, local = '', , , , , , user]) => ({ ...addressOf(local), user: Number(user) }))
    .filter(({ port }) => port === wanted)
    .map(({ host, user }) => ({ host: canonicalIp(host), user }));

/**
 * Returns the listen addresses that accept a connection to `host`, the most specific first. Null for a name,
 * which may resolve to any of them.
 */
function listeningAddressesFor(host: string): readonly string[] | null {
  const address = canonicalIp(host);
  if (address === null) return null;
  return address.includes(':') ? [address, '::'] : [address, '0.0.0.0', '::'];
}

function uidsAt(host: string, all: readonly Listener[]): number[] {
  if (host === 'localhost') return [...uidsAt('127.0.0.1', all), ...uidsAt('::1', all)];
  const addresses = listeningAddressesFor(host);
  const matching =
    addresses === null
      ? all
      : (addresses.map((one) => all.filter((each) => each.host === one)).find(({ length }) => length > 0) ??
        []);
  return matching.map(({ user }) => user);
}

/**
 * Returns which untrusted user listens at a `url` of this machine: `user 1001, who holds port 8080`. Returns
 * null when there is no listener, when all listeners belong to `trusted` users, and where the kernel does not
 * report them. A port that root forwards elsewhere (to a container) has no listener, and root is trusted.
 */
export function untrustedListener(url: string, trusted: ReadonlySet<number>, proc = '/proc'): string | null {
  if (!URL.canParse(url)) return null;
  const { hostname, port, protocol } = new URL(url);
  const wanted = Number(port || (protocol === 'https:' ? 443 : 80));
  const here = ['net/tcp', 'net/tcp6'].flatMap((name) => listenersAt(wanted, join(proc, name)));
  const host = hostname.replace(/^\[|\]$/g, '');
  const user = uidsAt(host, here).find((one) => !trusted.has(one));
  return user === undefined ? null : `user ${user}, whose process listens on port ${wanted}`;
}

/** Returns root, the current user, and the owners of those paths that exist. */
export function trustedUsers(paths: readonly string[]): ReadonlySet<number> {
  const owners = paths.map((path) => {
    try {
      return statSync(path).uid;
    } catch {
      return 0;
    }
  });
  return new Set([0, process.geteuid?.() ?? 0, ...owners]);
}
