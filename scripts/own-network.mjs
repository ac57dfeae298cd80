// Plain JavaScript for Node 20: runs programs in a network namespace that has only a loopback interface.
import { spawnSync } from 'node:child_process';

/** `unshare` creates a new network namespace, in which loopback is brought up first. */
const enter = (ip) => ['unshare', '--net', '--', 'sh', '-c', '"$0" link set lo up && exec "$@"', ip];

/**
 * Returns the command line in a separate network namespace if this is permitted (Linux, root) and `ip` is the
 * path of iproute2; otherwise unchanged. Outside of it a browser drops its connections when an interface
 * changes, for example when a container starts or ends.
 */
export function inOwnNetwork(ip, command) {
  if (!ip) return command;
  const [program, ...args] = enter(ip);
  const tried = spawnSync(program, [...args, 'true'], { stdio: 'ignore', timeout: 10_000 });
  return tried.status === 0 ? [...enter(ip), ...command] : command;
}
