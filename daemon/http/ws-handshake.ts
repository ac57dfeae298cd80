import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServerOptions } from 'ws';
import { GatewayError } from '../contract/errors.ts';
import { dialectOf } from './call.ts';
import { asGatewayError, bareRefusal } from './error-envelope.ts';
import { admit, type GuardDeps } from './guards.ts';
import { halfClose } from './lingering-close.ts';
import { upgradeId } from './ws-request-id.ts';

/** Largest message of a client: audio is sent in small pieces. */
const MAX_MESSAGE_BYTES = 1 << 20;
/**
 * The only supported protocol version (RFC 6455). Older versions carry the Origin in a header that no rule
 * checks.
 */
const VERSION = '13';

/** Chooses the protocol of the response. The one that carries a key is never returned. */
export function chooseProtocol(offered: Set<string>): string | false {
  return offered.has('realtime') ? 'realtime' : false;
}

/** Options of the WebSocket server: caps, and the checks that must refuse before the handshake (framing, Host). */
export function wsOptions(deps: GuardDeps): ServerOptions {
  return {
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A packet may contain thousands of small messages: other work runs after each.
    allowSynchronousEvents: false,
    handleProtocols: chooseProtocol,
    verifyClient: ({ req }, done) => {
      try {
        if (req.headers['sec-websocket-version'] !== VERSION) throw handshakeError(req);
        admit(deps, req, true);
      } catch (error) {
        refuse(deps, req.socket, req, error);
        return;
      }
      done(true);
    },
  };
}

/** Adds the request id to the handshake response. */
export function addRequestIdHeader(headers: string[], req: IncomingMessage): void {
  headers.push(`x-request-id: ${upgradeId(req)}`);
}

/** Returns the error for a handshake that the WebSocket server refuses: 426 for the version, else 400. */
function handshakeError(req: IncomingMessage): GatewayError {
  const versionFits = req.headers['sec-websocket-version'] === VERSION;
  return new GatewayError('request.malformed', {
    status: versionFits ? 400 : 426,
    message: versionFits
      ? 'The WebSocket handshake is malformed.'
      : `Only WebSocket version ${VERSION} is supported.`,
    headers: versionFits ? {} : { upgrade: 'websocket', 'sec-websocket-version': VERSION },
  });
}

/**
 * Responds with the envelope to a handshake that the WebSocket server itself refuses (key, version, protocol
 * list).
 */
export function refuseHandshake(deps: GuardDeps, socket: Duplex, req: IncomingMessage): void {
  refuse(deps, socket, req, handshakeError(req));
}

function refuse(deps: GuardDeps, socket: Duplex, req: IncomingMessage, error: unknown): void {
  const id = upgradeId(req);
  const failure = asGatewayError(error, deps.log, id);
  deps.refused(failure.code);
  if (!socket.writable) socket.destroy();
  else halfClose(socket, bareRefusal(failure, dialectOf(req.url ?? ''), id));
}
