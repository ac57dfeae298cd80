import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServerOptions } from 'ws';
import { type ErrorCode, GatewayError } from '../contract/errors.ts';
import { dialectOf } from './call.ts';
import { asGatewayError, bareRefusal } from './error-envelope.ts';
import { admit, type GuardDeps, guardClass, guardOrigin } from './guards.ts';
import { halfClose } from './lingering-close.ts';
import type { Match, Matcher } from './matcher.ts';
import { upgradeId } from './ws-request-id.ts';

/**
 * Largest frame of a client. It is above the largest event of a realtime session, so that an event that is
 * somewhat too large is an error of that session and does not end it.
 */
const MAX_MESSAGE_BYTES = 32 << 20;
/**
 * The only supported protocol version (RFC 6455). Older versions carry the Origin in a header that no rule
 * checks.
 */
const VERSION = '13';

/** Chooses the protocol of the response. The one that carries a key is never returned. */
export function chooseProtocol(offered: Set<string>): string | false {
  return offered.has('realtime') ? 'realtime' : false;
}

/** The guards of a handshake, and the values that no refusal may contain. */
export interface HandshakeDeps extends GuardDeps {
  matcher: Matcher;
  /** Counts each refusal by its code. */
  refused(code: ErrorCode): void;
  secrets(): readonly string[];
}

/** Options of the WebSocket server: caps, and the checks that must refuse before the handshake. */
export function wsOptions(deps: HandshakeDeps): ServerOptions {
  return {
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A packet may contain thousands of small messages: other work runs after each.
    allowSynchronousEvents: false,
    handleProtocols: chooseProtocol,
    verifyClient: ({ req }, done) => {
      try {
        if (req.headers['sec-websocket-version'] !== VERSION) throw handshakeError(req);
        checkHandshake(deps, req);
      } catch (error) {
        refuse(deps, req.socket, req, error);
        return;
      }
      done(true);
    },
  };
}

/**
 * Checks framing and Host, and everything else for a route without a socket: a client that tried a WebSocket
 * first falls back to HTTP only when the handshake fails (docs/spec/contract.md#upgrade-on-http-route). Refusals
 * of a socket route follow after the handshake, where a browser can read them.
 */
function checkHandshake(deps: HandshakeDeps, req: IncomingMessage): void {
  const { target, auth } = admit(deps, req, true);
  const match = deps.matcher(auth.method, target.path);
  if (match.route?.kind === 'websocket') return;
  guardOrigin(deps, auth);
  const route = guardClass(deps, anyMethod(deps, match, target.path), deps.auth.caller(auth), auth);
  if (route.kind === 'hint') throw new GatewayError('route.not_found');
  throw new GatewayError('request.malformed', {
    status: 426,
    message: 'This route takes no WebSocket. Send a plain HTTP request.',
    headers: { upgrade: 'HTTP/1.1' },
  });
}

/** A handshake is a GET. The class that decides is that of the path, whichever method it takes. */
function anyMethod(deps: HandshakeDeps, match: Match, path: string): Match {
  if (match.route !== null) return match;
  const others = match.allow.map((method) => deps.matcher(method, path));
  return others.find(({ route }) => route !== null) ?? match;
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
export function refuseHandshake(deps: HandshakeDeps, socket: Duplex, req: IncomingMessage): void {
  refuse(deps, socket, req, handshakeError(req));
}

function refuse(deps: HandshakeDeps, socket: Duplex, req: IncomingMessage, error: unknown): void {
  const id = upgradeId(req);
  const failure = asGatewayError(error, deps.log, id);
  deps.refused(failure.code);
  if (!socket.writable) socket.destroy();
  else halfClose(socket, bareRefusal(failure, dialectOf(req.url ?? ''), id, deps.secrets()));
}
