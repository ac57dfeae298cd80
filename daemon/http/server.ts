import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import websockify from 'koa-websocket';
import { createServer } from '../lib/net/node-http.ts';
import type { SocketHandler, SocketRouteId } from '../routes/handler.ts';
import { type AppDeps, createApp } from './app.ts';
import { handleClientError } from './client-error.ts';
import { enforceConnectionLimit } from './connection-limit.ts';
import { Drain } from './drain.ts';
import type { FailedRequests } from './error-envelope.ts';
import { hotPath } from './hot-path.ts';
import { type ListenOptions, listen } from './listen.ts';
import { markExpectation } from './send-continue.ts';
import { Sockets } from './sockets.ts';
import { trackUnusedSockets } from './unused-sockets.ts';
import { guardUpgrades, type UpgradeDeps, upgradeOptions } from './upgrade-guard.ts';
import { batchWrites, type WriteBatching } from './write-batching.ts';

export interface HttpOptions extends Omit<ListenOptions, 'log'> {
  /** Maximum number of connections. Above it unused, idle and stalled ones are closed. */
  maxConnections: number;
}

export interface HttpDeps extends AppDeps, UpgradeDeps {
  sockets: Record<SocketRouteId, SocketHandler>;
}

export interface HttpServer {
  /** The actual port. */
  port: number;
  /**
   * Drains responses for `drainMs`, then closes them. The gateway's own listener stays open meanwhile and
   * refuses with 503. The listener of a service manager is not read any longer, so that new callers wait for
   * the next start. `endResponses` is called at the end of the drain: it ends the remaining responses with an
   * error, and connections that are still open two seconds later are closed
   * (docs/spec/contract.md#shutdown).
   */
  stop(drainMs: number, endResponses?: () => void): Promise<void>;
}

/** Time that callers get to read the ends of their responses after the drain (ms). */
const END_GRACE_MS = 2_000;

/**
 * Time limits of the listener in milliseconds; headers must arrive within 15 s (docs/spec/contract.md#caps).
 */
const LIMITS = { headers: 15_000, request: 600_000, keepAlive: 65_000, check: 1_000 } as const;

/** Starts the one listener: HTTP through Koa, upgrades through the same guards. */
export async function startHttp(deps: HttpDeps, options: HttpOptions): Promise<HttpServer> {
  const server = createServer({
    connectionsCheckingInterval: LIMITS.check,
    requireHostHeader: false,
  });
  let stopping = false;
  const drain = new Drain((req) => stopping && isWebSocketUpgrade(req));
  const failed: FailedRequests = new WeakMap();
  const app = createApp(deps, drain, failed);
  tune(server, () => stopping);
  wire(server, closeAfterOffer(hotPath(deps, drain, failed, app.callback())));
  const sockets = attachSockets(app, server, deps);
  const batching = batchWrites(server, () => drain.isSingle);
  const silent = trackUnusedSockets(server);
  enforceConnectionLimit(server, silent, { maxConnections: options.maxConnections, log: deps.log });
  deps.auth.onChange(() => sockets.recheck());
  const recheck = setInterval(() => sockets.recheck(), 60_000);
  recheck.unref();
  await listen(server, { ...options, log: deps.log });
  return {
    port: (server.address() as AddressInfo).port,
    stop: async (drainMs, endResponses = () => {}) => {
      stopping = true;
      clearInterval(recheck);
      sockets.closeAll();
      const limitMs = drainMs + END_GRACE_MS;
      const began = performance.now();
      const end = setTimeout(endResponses, drainMs);
      if (options.fd === undefined) await drain.begin(limitMs);
      const left = Math.max(0, limitMs - (performance.now() - began));
      await close(server, left, { batching, destroyUnused: silent.destroyAll });
      clearTimeout(end);
    },
  };
}

/** Attaches koa-websocket to the tuned server, behind the upgrade guard. */
function attachSockets(app: Koa, server: Server, deps: HttpDeps): Sockets {
  const sockets = new Sockets(deps);
  const { ws } = websockify(app);
  ws.use((ctx, next) => sockets.middleware(ctx, next));
  ws.use((ctx) => deps.sockets[ctx.state.route.id as SocketRouteId](ctx));
  ws.listen({ server, ...upgradeOptions(deps) });
  if (ws.server) guardUpgrades(deps, ws.server);
  return sockets;
}

const isWebSocketUpgrade = (req: IncomingMessage): boolean =>
  req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket';

function tune(server: Server, stopping: () => boolean): void {
  server.headersTimeout = LIMITS.headers;
  server.requestTimeout = LIMITS.request;
  server.keepAliveTimeout = LIMITS.keepAlive;
  const isAccepted = (req: IncomingMessage): boolean => !stopping() && isWebSocketUpgrade(req);
  Object.assign(server, {
    shouldUpgradeCallback: (req: IncomingMessage) => {
      if (isAccepted(req)) return true;
      IGNORED_OFFERS.add(req);
      return false;
    },
  });
}

/** Requests that offer a protocol (`Upgrade: h2c`) and are answered in HTTP. */
const IGNORED_OFFERS = new WeakSet<IncomingMessage>();

/**
 * Ends the connection with the response to such an offer: Node 24 discards what follows the request in the same packet,
 * and the caller of a discarded request would wait forever. A closed connection makes it send the request again.
 */
const closeAfterOffer =
  (callback: RequestListener): RequestListener =>
  (req, res) => {
    if (IGNORED_OFFERS.has(req)) res.shouldKeepAlive = false;
    callback(req, res);
  };

function wire(server: Server, callback: RequestListener): void {
  server.on('request', callback);
  server.on('checkContinue', (req, res) => {
    markExpectation(req, 'continue');
    callback(req, res);
  });
  server.on('checkExpectation', (req, res) => {
    markExpectation(req, 'unknown');
    callback(req, res);
  });
  server.on('clientError', handleClientError);
}

/** Interval of the check for idle connections during a drain (ms). */
const SWEEP_MS = 100;

/**
 * A just accepted connection may have its request in transit, above all when a service manager keeps the
 * listener (ms).
 */
const UNUSED_GRACE_MS = 250;

interface Ending {
  readonly batching: WriteBatching;
  destroyUnused(): void;
}

async function close(
  server: Server,
  drainMs: number,
  { batching: gathered, destroyUnused }: Ending,
): Promise<void> {
  // Node counts a connection as idle as soon as its response was handed over, and closing ends idle ones.
  gathered.flush();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const silent = setTimeout(destroyUnused, UNUSED_GRACE_MS);
  const sweep = setInterval(() => {
    gathered.flush();
    server.closeIdleConnections();
  }, SWEEP_MS);
  const cut = setTimeout(() => {
    gathered.flush();
    server.closeAllConnections();
  }, drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(silent);
  clearTimeout(cut);
}
