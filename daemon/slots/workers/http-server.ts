import { createHash } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../lib/net/node-http.ts';
import { type ByteStream, byteStream } from './byte-stream.ts';
import { type EventStream, eventStream } from './event-stream.ts';
import type { WorkerHealth } from './protocol.ts';
import { readJson } from './read-json.ts';
import { asRefusal, Refusal } from './refusal.ts';

/** One request of the daemon and the methods to respond. */
export interface RequestContext {
  /** Aborts when the caller disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** The request itself, for bodies that are read as a stream. */
  readonly request: IncomingMessage;
  /** Reads the JSON body. Throws a 400 or 413. */
  body(): Promise<unknown>;
  /** Sets a header of the response. Call this before the response starts. */
  header(name: string, value: string): void;
  json(status: number, value: object): void;
  text(type: string, value: string): void;
  /** Starts a 200 response of bytes. */
  bytes(type: string): ByteStream;
  /** Starts a 200 response of server-sent events. */
  events(): EventStream;
}

export type Handler = (exchange: RequestContext) => Promise<void>;
/** Handlers by `METHOD /path`. */
export type Routes = Readonly<Record<string, Handler>>;

export interface WorkerServer {
  readonly port: number;
  /** Installs the routes of the loaded model. Before that, they respond with 503. */
  serve(routes: Routes): void;
  /** Stops accepting requests. Running ones continue. */
  drain(): void;
  /** Aborts everything that is still open. */
  close(): void;
}

/** Longer than the daemon keeps an idle connection, so that the daemon closes it first. */
const KEEP_ALIVE_MS = 120_000;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Listens on a free port of 127.0.0.1. `GET /health` is open; all other routes require `key`. */
export async function openServer(key: string, health: () => WorkerHealth): Promise<WorkerServer> {
  const expected = digest(`Bearer ${key}`);
  let routes: Routes | null = null;
  const server = createServer((request, response) => {
    const route = `${request.method} ${(request.url ?? '').split('?', 1)[0]}`;
    const exchange = openExchange(request, response);
    if (route === 'GET /health') {
      const body = health();
      return exchange.json(body.status === 'ok' ? 200 : 503, body);
    }
    if (!digest(request.headers.authorization ?? '').equals(expected))
      return answerError(response, WRONG_KEY);
    const handler = findHandler(routes, route);
    if (handler instanceof Refusal) return answerError(response, handler);
    handler(exchange).catch((error: unknown) => {
      if (!exchange.signal.aborted) answerError(response, error);
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server);
  return {
    port: (server.address() as AddressInfo).port,
    serve: (ready) => {
      routes = ready;
    },
    drain: () => server.close(),
    close: () => server.closeAllConnections(),
  };
}

const WRONG_KEY = new Refusal('auth.required', 'The engine key is missing or wrong.', { status: 401 });
const LOADING = new Refusal('slot.loading', 'The model is still loading.', { status: 503 });

function findHandler(routes: Routes | null, route: string): Handler | Refusal {
  if (routes === null) return LOADING;
  const handler = Object.hasOwn(routes, route) ? routes[route] : undefined;
  return handler ?? new Refusal('route.not_found', `This engine has no ${route}.`, { status: 404 });
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

function openExchange(request: IncomingMessage, response: ServerResponse): RequestContext {
  const leaving = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort(new Error('the client disconnected'));
  });
  return {
    signal: leaving.signal,
    request,
    body: () => readJson(request),
    header: (name, value) => response.setHeader(name, value),
    json: (status, value) => answerJson(response, status, value),
    text: (type, value) => answerBytes(response, 200, type, Buffer.from(value)),
    bytes: (type) => byteStream(response, type, leaving.signal),
    events: () => eventStream(response, leaving.signal),
  };
}

function answerJson(response: ServerResponse, status: number, value: object): void {
  answerBytes(response, status, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)));
}

function answerBytes(response: ServerResponse, status: number, type: string, body: Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

function answerError(response: ServerResponse, error: unknown): void {
  const refusal = asRefusal(error);
  if (response.headersSent) response.destroy();
  else answerJson(response, refusal.status, refusal.envelope());
}
