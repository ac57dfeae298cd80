import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The events of a server that begin a request on a connection. */
const BEGINNINGS = ['request', 'checkContinue', 'checkExpectation', 'upgrade'] as const;

/** The connections that have not begun a request. */
export interface SilentSockets {
  /** The one that has waited longest, other than `but`; null when there is none. */
  oldest(but: Socket): Socket | null;
  /** Ends those of the moment. */
  end(): void;
}

/**
 * Follows the connections that have not begun a request. Browsers open some ahead of need. Node counts them as busy
 * until its limit for headers is over, so a stop would wait for them, and a flood of them would keep everybody out.
 */
export function followSilent(server: Server): SilentSockets {
  /** In the order in which they came. */
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  for (const event of BEGINNINGS) server.on(event, (req: IncomingMessage) => silent.delete(req.socket));
  return {
    oldest: (but) => {
      for (const socket of silent) if (socket !== but && !socket.destroyed) return socket;
      return null;
    },
    end: () => {
      for (const socket of silent) socket.destroy();
    },
  };
}
