import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The events of a server that begin a request on a connection. */
const FIRST_REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation', 'upgrade'] as const;

/** The connections that have not begun a request. */
export interface UnusedSockets {
  /** The one that has waited longest, other than `but`; null when there is none. */
  oldest(but: Socket): Socket | null;
  /** Ends those of the moment. */
  destroyAll(): void;
}

/**
 * Follows the connections that have not begun a request. Browsers open some ahead of need. Node counts them as busy
 * until its limit for headers is over, so a stop would wait for them, and a flood of them would keep everybody out.
 */
export function trackUnusedSockets(server: Server): UnusedSockets {
  /** In the order in which they came. */
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  for (const event of FIRST_REQUEST_EVENTS)
    server.on(event, (req: IncomingMessage) => unused.delete(req.socket));
  return {
    oldest: (but) => {
      for (const socket of unused) if (socket !== but && !socket.destroyed) return socket;
      return null;
    },
    destroyAll: () => {
      for (const socket of unused) socket.destroy();
    },
  };
}
