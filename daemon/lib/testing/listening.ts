import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** For tests: the port that a server listens on. */
export const portOf = (server: Pick<Server, 'address'>): number => (server.address() as AddressInfo).port;

/** For tests: lets a server listen on the loopback address, on a free port unless one is named, and answers its port. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}
