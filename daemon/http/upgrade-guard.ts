import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServerOptions, WebSocketServer } from 'ws';
import { GatewayError } from '../contract/errors.ts';
import { originForm } from '../lib/net/request-target.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { Call } from '../routes/handler.ts';
import { dialectOf } from './call.ts';
import { asGatewayError, bareRefusal, type ErrorDeps, type StartedRequest } from './error-envelope.ts';
import { type Admitted, admit, type GuardDeps, guardClass, guardOrigin } from './guards.ts';
import { halfClose } from './lingering-close.ts';
import type { Match, Matcher } from './matcher.ts';

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

export interface UpgradeDeps extends GuardDeps, ErrorDeps {
  matcher: Matcher;
}

/** What is known about an upgrade. The guards add the rest before its handshake. */
export type Upgrade = StartedRequest & Partial<Admitted & Pick<Call, 'route'>>;

const UPGRADES = new WeakMap<IncomingMessage, Upgrade>();

/** Returns the upgrade of a request: its id is the same in the handshake response and for the socket. */
export function upgradeOf(req: IncomingMessage): Upgrade {
  const known = UPGRADES.get(req);
  if (known !== undefined) return known;
  const started = { id: newRequestId(), receivedAt: performance.now() };
  UPGRADES.set(req, started);
  return started;
}

/**
 * Guards `server`, which koa-websocket has attached to the listener: gives handshake responses their request id, and
 * refusals of the WebSocket server itself (key, version, protocol list) the envelope.
 *
 * Node passes every request with an Upgrade header to the WebSocket server, past all of Koa. koa-websocket accepts
 * each of them, parses the target as a URL, which throws for some, and leaves sockets of unknown paths open. `upgradeOptions`
 * therefore checks framing, Host, Origin and the route before the handshake.
 */
export function guardUpgrades(deps: UpgradeDeps, server: WebSocketServer): void {
  server.on('error', () => {});
  server.on('headers', (headers, req) => headers.push(`x-request-id: ${upgradeOf(req).id}`));
  server.on('wsClientError', (_error, socket, req) => refuse(deps, socket, req, handshakeError(req)));
}

/** Options of the WebSocket server: caps, and the checks that must refuse before the handshake. */
export function upgradeOptions(deps: UpgradeDeps): Omit<ServerOptions, 'WebSocket'> {
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
function checkHandshake(deps: UpgradeDeps, req: IncomingMessage): void {
  const { target, auth } = admit(deps, req, true);
  const match = deps.matcher(auth.method, target.path);
  if (match.route?.kind === 'websocket') {
    Object.assign(upgradeOf(req), { target, auth, route: match.route });
    req.url = originForm(target);
    return;
  }
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
function anyMethod(deps: UpgradeDeps, match: Match, path: string): Match {
  if (match.route !== null) return match;
  const others = match.allow.map((method) => deps.matcher(method, path));
  return others.find(({ route }) => route !== null) ?? match;
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

function refuse(deps: UpgradeDeps, socket: Duplex, req: IncomingMessage, error: unknown): void {
  const { id, receivedAt } = upgradeOf(req);
  const failure = asGatewayError(error, deps.log, id);
  deps.refused(failure, { req, id, receivedAt });
  if (!socket.writable) socket.destroy();
  else halfClose(socket, bareRefusal(failure, dialectOf(req.url ?? ''), id, deps.secrets()));
}
