import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import websockify from 'koa-websocket';
import { createServer } from '../lib/net/node-http.ts';
import { type AppDeps, createApp } from './app.ts';
import { handleClientError } from './client-error.ts';
import { enforceConnectionLimit } from './connection-limit.ts';
import { Drain } from './drain.ts';
import type { FailedRequests } from './error-envelope.ts';
import { FastResponse } from './fast-response.ts';
import { hotPath } from './hot-path.ts';
import { type ListenOptions, listen } from './listen.ts';
import { markExpectation } from './send-continue.ts';
import { trackUnusedSockets } from './unused-sockets.ts';
import { batchWrites, type WriteBatching } from './write-batching.ts';
import { addRequestIdHeader, type HandshakeDeps, refuseHandshake, wsOptions } from './ws-handshake.ts';
import { WsPipeline, type WsPipelineDeps } from './ws-pipeline.ts';

export interface HttpOptions extends Omit<ListenOptions, 'log'> {
  /** Maximum number of connections. Above it unused, idle and stalled ones are closed. */
  maxConnections: number;
}

export interface HttpServer {
  /** The actual port. */
  port: number;
  /**
   * Drains responses for `drainMs`, then closes them. The gateway's own listener stays open meanwhile and
   * refuses with 503. The listener of a service manager is not read any longer, so that new callers wait for
   * the next start.
   */
  stop(drainMs: number): Promise<void>;
}

/**
 * Time limits of the listener in milliseconds; headers must arrive within 15 s (docs/spec/contract.md#caps).
 */
const LIMITS = { headers: 15_000, request: 600_000, keepAlive: 65_000, check: 1_000 } as const;

/** Starts the one listener: HTTP through Koa, upgrades through the same guards. */
export async function startHttp(deps: AppDeps & WsPipelineDeps, options: HttpOptions): Promise<HttpServer> {
  const server = createServer({
    ServerResponse: FastResponse,
    connectionsCheckingInterval: LIMITS.check,
    requireHostHeader: false,
  });
  let stopping = false;
  const drain = new Drain((req) => stopping && isWebSocketUpgrade(req));
  const failed: FailedRequests = new WeakMap();
  const app = createApp(deps, drain, failed);
  tune(server, () => stopping);
  wire(server, hotPath(deps, drain, failed, app.callback()));
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
    stop: async (drainMs) => {
      stopping = true;
      clearInterval(recheck);
      sockets.closeAll();
      const began = performance.now();
      if (options.fd === undefined) await drain.begin(drainMs);
      const left = Math.max(0, drainMs - (performance.now() - began));
      await close(server, left, { batching, destroyUnused: silent.destroyAll });
    },
  };
}

/**
 * koa-websocket takes its server from `listen`, so it gets the tuned one. Its connection handler is replaced:
 * it parses the target as a URL, which throws for some targets and turns others into a route.
 */
function attachSockets(app: Koa, server: Server, deps: WsPipelineDeps & HandshakeDeps): WsPipeline {
  const sockets = new WsPipeline(deps);
  app.listen = () => server;
  const hooked = websockify(app, wsOptions(deps) as Parameters<typeof websockify>[1]);
  hooked.ws.onConnection = (socket, req) => {
    socket.on('error', () => {});
    sockets.accept(socket, req).catch(() => socket.terminate());
  };
  hooked.listen();
  hooked.ws.server?.on('error', () => {});
  hooked.ws.server?.on('headers', addRequestIdHeader);
  hooked.ws.server?.on('wsClientError', (_error, socket, req) => refuseHandshake(deps, socket, req));
  return sockets;
}

const isWebSocketUpgrade = (req: IncomingMessage): boolean =>
  req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket';

function tune(server: Server, stopping: () => boolean): void {
  server.headersTimeout = LIMITS.headers;
  server.requestTimeout = LIMITS.request;
  server.keepAliveTimeout = LIMITS.keepAlive;
  Object.assign(server, {
    shouldUpgradeCallback: (req: IncomingMessage) => !stopping() && isWebSocketUpgrade(req),
  });
}

function wire(server: Server, callback: (req: IncomingMessage, res: ServerResponse) => void): void {
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
