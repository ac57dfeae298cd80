import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The events of a server that begin a request on a connection. */
const BEGINNINGS = ['request', 'checkContinue', 'checkExpectation', 'upgrade'] as const;

/**
 * Follows the connections that have not begun a request; the answer ends those of the moment. Browsers open some ahead
 * of need. Node counts them as busy until its limit for headers is over, so a stop would wait for them.
 */
export function followSilent(server: Server): () => void {
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  for (const event of BEGINNINGS) server.on(event, (req: IncomingMessage) => silent.delete(req.socket));
  return () => {
    for (const socket of silent) socket.destroy();
  };
}
