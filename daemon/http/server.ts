import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Koa, { type Context } from 'koa';
import websockify from 'koa-websocket';
import { ERRORS, type ErrorCode, GatewayError } from '../contract/errors.ts';
import { SetupError } from '../kit/setup-error.ts';
import { createPipeline, type PipelineDeps } from './pipeline.ts';
import { expectsContinue } from './read-body.ts';
import { WsPipeline, type WsPipelineDeps, wsOptions } from './ws-pipeline.ts';

export interface HttpOptions {
  host: string;
  port: number;
  maxConnections: number;
}

export interface HttpServer {
  /** The port that was really taken. */
  port: number;
  /** Closes the listener, lets running answers finish for `drainMs`, then cuts them. */
  stop(drainMs: number): Promise<void>;
}

/** Time limits of the listener in milliseconds (contract "Caps": headers within 15 s). */
const LIMITS = { headers: 15_000, request: 600_000, keepAlive: 65_000, check: 1_000 } as const;

/** Starts the one listener: HTTP through the pipeline, upgrades through the same guards. */
export async function startHttp(
  deps: PipelineDeps & WsPipelineDeps,
  options: HttpOptions,
): Promise<HttpServer> {
  const app = new Koa();
  app.silent = true;
  app.use(createPipeline(deps));
  const server = createServer({ connectionsCheckingInterval: LIMITS.check, requireHostHeader: false });
  tune(server, options);
  const callback = app.callback() as (req: IncomingMessage, res: Context['res']) => void;
  wire(server, callback);
  const sockets = attachSockets(app, server, deps);
  deps.auth.onChange(() => sockets.recheck());
  const recheck = setInterval(() => sockets.recheck(), 60_000);
  recheck.unref();
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    stop: async (drainMs) => {
      clearInterval(recheck);
      sockets.closeAll();
      await close(server, drainMs);
    },
  };
}

/** koa-websocket takes its server from `listen`: it is handed the one that is already tuned. */
function attachSockets(app: Koa, server: Server, deps: WsPipelineDeps): WsPipeline {
  const sockets = new WsPipeline(deps);
  app.listen = () => server;
  const hooked = websockify(app, wsOptions(deps) as Parameters<typeof websockify>[1]);
  hooked.ws.use(async (ctx) => {
    await sockets.accept(ctx.websocket, ctx.req);
  });
  hooked.listen();
  hooked.ws.server?.on('error', () => {});
  return sockets;
}

function tune(server: Server, options: HttpOptions): void {
  server.headersTimeout = LIMITS.headers;
  server.requestTimeout = LIMITS.request;
  server.keepAliveTimeout = LIMITS.keepAlive;
  server.maxConnections = options.maxConnections;
  Object.assign(server, {
    shouldUpgradeCallback: (req: IncomingMessage) =>
      req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket',
  });
}

function wire(server: Server, callback: (req: IncomingMessage, res: Context['res']) => void): void {
  server.on('request', callback);
  server.on('checkContinue', (req, res) => {
    expectsContinue(req);
    callback(req, res);
  });
  server.on('checkExpectation', (_req, res) => {
    res.writeHead(417, { connection: 'close' });
    res.end();
  });
  server.on('clientError', refuseUnparsed);
}

/** Statuses of requests that the parser of Node refuses, as our envelope. */
const PARSE_FAILURES: Record<string, { status: number; code: ErrorCode }> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'request.malformed' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request.timeout' },
};

function refuseUnparsed(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const failure = PARSE_FAILURES[error.code ?? ''] ?? { status: 400, code: 'request.malformed' as const };
  const body = JSON.stringify(new GatewayError(failure.code).envelope('api'));
  socket.end(
    `HTTP/1.1 ${failure.status} ${ERRORS[failure.code].message}\r\ncontent-type: application/json\r\n` +
      `x-request-id: ${crypto.randomUUID()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const LISTEN_ADVICE: Record<string, string> = {
  EADDRINUSE:
    'Another program holds this port. Stop it, or choose another one with SVC_PORT or [server].port.',
  EACCES: 'This port needs more rights. Choose one above 1023 with SVC_PORT or [server].port.',
  EADDRNOTAVAIL: 'This host has no such address. Correct SVC_BIND_HOST or [server].bind_host.',
  ENOTFOUND: 'This name does not resolve. Correct SVC_BIND_HOST or [server].bind_host.',
};

function listen(server: Server, options: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = LISTEN_ADVICE[error.code ?? ''] ?? 'See SVC_BIND_HOST and SVC_PORT.';
      reject(
        new SetupError(
          `Cannot listen on ${options.host} port ${options.port}: ${error.code ?? error.message}.`,
          advice,
        ),
      );
    });
    server.listen({ host: options.host, port: options.port }, resolve);
  });
}

async function close(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(cut);
}
