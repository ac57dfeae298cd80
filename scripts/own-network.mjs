// Plain JavaScript for Node 20: programs that see no network but a loopback of their own.
import { spawnSync } from 'node:child_process';

/** `unshare` creates a new network namespace, in which loopback is brought up first. */
const enter = (ip) => ['unshare', '--net', '--', 'sh', '-c', '"$0" link set lo up && exec "$@"', ip];

/**
 * Returns the command line in a network namespace of its own, if this is permitted (Linux, root) and `ip` is
 * the path of iproute2; otherwise unchanged. A browser drops its connections when an interface of its machine
 * changes, as happens when a container starts or ends. In the namespace this does not happen.
 */
export function inOwnNetwork(ip, command) {
  if (!ip) return command;
  const [program, ...args] = enter(ip);
  const tried = spawnSync(program, [...args, 'true'], { stdio: 'ignore', timeout: 10_000 });
  return tried.status === 0 ? [...enter(ip), ...command] : command;
}
