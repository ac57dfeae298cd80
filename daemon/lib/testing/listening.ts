import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Returns the port that a server listens on. For tests. */
export const portOf = (server: Pick<Server, 'address'>): number => (server.address() as AddressInfo).port;

/** Makes a server listen on the loopback address, on a free port by default, and returns its port. For tests. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}
