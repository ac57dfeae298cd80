import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The events of a server that begin a request on a connection. */
const FIRST_REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation', 'upgrade'] as const;

/** The connections without a request yet. */
export interface UnusedSockets {
  /** Returns the oldest one other than `but`, or null. */
  oldest(but: Socket): Socket | null;
  /** Closes all current ones. */
  destroyAll(): void;
}

/**
 * Tracks connections that have not started a request. Browsers open some in advance. Node counts them as busy
 * until its header timeout, so a stop would wait for them, and many of them would block other clients.
 */
export function trackUnusedSockets(server: Server): UnusedSockets {
  /** In order of arrival. */
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
