import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import websockify from 'koa-websocket';
import { createServer } from '../lib/net/node-http.ts';
import { handleClientError } from './client-error.ts';
import { enforceConnectionLimit } from './connection-limit.ts';
import { Drain, refuseWhileDraining } from './drain.ts';
import { FastResponse } from './fast-response.ts';
import { type ListenOptions, listen } from './listen.ts';
import { createPipeline, type PipelineDeps } from './pipeline.ts';
import { markExpectation } from './send-continue.ts';
import { trackUnusedSockets } from './unused-sockets.ts';
import { batchWrites, type WriteBatching } from './write-batching.ts';
import { addRequestIdHeader, refuseHandshake, wsOptions } from './ws-handshake.ts';
import { WsPipeline, type WsPipelineDeps } from './ws-pipeline.ts';

export interface HttpOptions extends Omit<ListenOptions, 'log'> {
  /** Most connections at once; above that silent, idle and unread ones make room. */
  maxConnections: number;
}

export interface HttpServer {
  /** The port that was really taken. */
  port: number;
  /**
   * Lets running answers finish for `drainMs`, then cuts them. A listener of our own stays open meanwhile and turns who
   * comes away with 503; one of the service manager is not asked any more, so that who comes waits for the next start.
   */
  stop(drainMs: number): Promise<void>;
}

/**
 * Time limits of the listener in milliseconds; headers must arrive within 15 s (docs/spec/contract.md#caps).
 */
const LIMITS = { headers: 15_000, request: 600_000, keepAlive: 65_000, check: 1_000 } as const;

/** Starts the one listener: HTTP through the pipeline, upgrades through the same guards. */
export async function startHttp(
  deps: PipelineDeps & WsPipelineDeps,
  options: HttpOptions,
): Promise<HttpServer> {
  const app = new Koa();
  app.silent = true;
  const server = createServer({
    ServerResponse: FastResponse,
    connectionsCheckingInterval: LIMITS.check,
    requireHostHeader: false,
  });
  const drain = new Drain();
  let stopping = false;
  tune(server, () => stopping);
  wire(
    server,
    listener(app, deps, drain, () => stopping),
  );
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
 * Koa makes the context; the pipeline is called as it is, because every answer is written by its handler or by the
 * pipeline itself. Koa's own way of answering would cost each request a tenth of its time.
 */
function listener(app: Koa, deps: PipelineDeps, drain: Drain, stopping: () => boolean) {
  const pipeline = createPipeline(deps);
  // Without a listener a fault of one answer, such as a write behind its end, would be the end of the gateway.
  const faulty = (error: Error) => deps.log.error({ err: error }, 'writing a response failed');
  return (req: IncomingMessage, res: ServerResponse): void => {
    res.on('error', faulty);
    if (drain.isDraining || (stopping() && isWebSocketUpgrade(req))) {
      refuseWhileDraining(deps, req, res);
      return;
    }
    drain.track(res);
    pipeline(app.createContext(req, res) as Context).catch(() => res.destroy());
  };
}

/**
 * koa-websocket takes its server from `listen`: it is handed the one that is already tuned. What it would do with a fresh
 * socket is replaced: it reads the target as an address, which throws for some targets and makes others those of a route.
 */
function attachSockets(app: Koa, server: Server, deps: WsPipelineDeps): WsPipeline {
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

/** How often connections that have become idle are looked for while the rest drains (ms). */
const SWEEP_MS = 100;

/** Who has just been accepted may have its request on the way, above all when a service manager keeps the listener (ms). */
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
  // Node takes a connection for idle as soon as its answer has been handed over, and closing ends the idle ones.
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
