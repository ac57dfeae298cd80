// Plain JavaScript for Node 20: runs programs in a separate network namespace.
import { spawnSync } from 'node:child_process';

/**
 * Creates a network namespace with a loopback and, where the kernel has virtual links, an address of a local network. Automatic
 * IPv6 addresses are off, because they appear a second later and a browser drops its connections when an address appears.
 */
const SETUP = `
"$0" link set lo up || exit 1
{
  "$0" link add lan0 type veth peer name lan1 &&
  "$0" link set lan0 addrgenmode none && "$0" link set lan1 addrgenmode none &&
  "$0" address add 192.168.77.2/24 dev lan0 &&
  "$0" link set lan0 up && "$0" link set lan1 up
} 2> /dev/null
exec "$@"`;
const enter = (ip) => ['unshare', '--net', '--', 'sh', '-c', SETUP, ip];

/**
 * Returns the command line in a separate network namespace if this is permitted (Linux, root) and `ip` is the
 * path of iproute2; otherwise unchanged. Outside of it tests depend on the machine: a packet filter can drop what is sent to a
 * port that a test got, another program can take the port, and a browser drops its connections when an interface changes, for
 * example when a container starts or ends.
 */
export function inOwnNetwork(ip, command) {
  if (!ip) return command;
  const [program, ...args] = enter(ip);
  const tried = spawnSync(program, [...args, 'true'], { stdio: 'ignore', timeout: 10_000 });
  return tried.status === 0 ? [...enter(ip), ...command] : command;
}
