import { subscribe } from 'node:diagnostics_channel';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
// Of undici only what opens connections: with the rest (fetch, caches, mocks) it is 40 ms and 6 MB of each start.
import makeConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { installWriteRelease } from '../perf/buffer-release.ts';
import { coalesceWrites } from '../perf/coalesce-writes.ts';
import { isNotPublic, isUnreachable, UnreachableAddress } from './unreachable-address.ts';

/** Bytes that lie elsewhere; they are read anew for each attempt. */
export interface StoredBody {
  readonly length: number;
  /** What has been taken of it is gone: it is sent on a connection that nobody can have dropped. */
  readonly once?: boolean;
  stream(): Readable;
}

/** The bytes of a body: in one piece, in several that follow one another, or stored. */
export type OutboundBody = Buffer | readonly Buffer[] | StoredBody;

/** One outgoing request. Every header is named here; nothing is inherited from anywhere. */
export interface OutboundRequest {
  /** `http://127.0.0.1:1234`: scheme, host and port only. */
  readonly origin: string;
  /** A unix socket that is spoken to in the place of the origin's host and port. */
  readonly socketPath?: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: OutboundBody | null;
  /** Longest silence of the peer in milliseconds, before and between bytes; 0 = no limit. */
  readonly idleMs: number;
  /** Uses a connection that has never been used before. */
  readonly fresh?: boolean;
  /** Longest time for a connection to open, where it is not that of the options. */
  readonly connectMs?: number | undefined;
  /** Refuses addresses of the own machine and of private networks, as connected to: for places that somebody else names. */
  readonly publicOnly?: boolean;
}

/** Where a request goes. */
type Destination = Pick<OutboundRequest, 'origin' | 'socketPath' | 'publicOnly'>;
/** Whether an address is one that is not connected to. */
type AddressFilter = (address: string) => boolean;

export type OutboundHandler = Dispatcher.DispatchHandler;
export type OutboundController = Dispatcher.DispatchController;

export interface OutboundOptions {
  /** Longest time for a connection to open, in milliseconds; read at each new pool. */
  connectMs(): number;
  /** Connections to one origin at once. */
  connections?: number;
  /** Resolves names; default that of the system. */
  lookup?: LookupFunction;
}

/** Origins whose connections are kept; the one used longest ago goes first. */
const MAX_ORIGINS = 64;
/** Above the connections that the listener accepts, so that no stream waits behind another. */
const DEFAULT_CONNECTIONS = 2048;
/** Engines close idle connections after 5 s (cpp-httplib); stay below. */
const KEEP_ALIVE_MS = 4_000;
/** Bytes of a body that may wait for their socket. Fewer make a large one wait often; more are memory for nothing. */
const MAX_UNSENT_BYTES = 2 ** 18;

/**
 * The only opener of outgoing connections: bounded pools by origin, HTTP/1.1 without pipelining, no redirects, no
 * proxies, TLS verified, every wait limited, every request abortable through the controller that the handler gets.
 */
export class Outbound {
  readonly #options: OutboundOptions;
  readonly #pools = new Map<string, Pool>();
  /** The connect time of the pools that are known by their origin alone. */
  readonly #defaultConnectMs: number;
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#defaultConnectMs = options.connectMs();
  }

  /** Sends `request`; the handler hears what comes back, `onResponseError` included. Never throws. */
  dispatch(request: OutboundRequest, handler: OutboundHandler): void {
    const connectMs = request.connectMs ?? this.#options.connectMs();
    const fresh = request.fresh === true || isSentOnce(request.body);
    const pool = fresh ? this.#create(request, 1, connectMs) : this.#pool(request, connectMs);
    const options: Dispatcher.DispatchOptions = {
      path: request.path,
      method: request.method,
      headers: headersOf(request),
      body: sentBody(request.body),
      headersTimeout: request.idleMs,
      bodyTimeout: request.idleMs,
    };
    // An engine that is told to close may do so over what a long body still brings, and take its answer with it.
    if (request.fresh) options.reset = true;
    pool.dispatch(options, handler);
    if (fresh) void pool.close();
  }

  /** Ends every connection at once; requests that run fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(destination: Destination, connectMs: number): Pool {
    const key = this.#key(destination, connectMs);
    const existing = this.#pools.get(key);
    if (existing) return existing;
    const pool = this.#create(destination, this.#options.connections ?? DEFAULT_CONNECTIONS, connectMs);
    if (this.#closed) void pool.destroy();
    else this.#keep(key, pool);
    return pool;
  }

  /** The origin itself wherever nothing is special, so that no text is made for each request. */
  #key({ origin, socketPath, publicOnly }: Destination, connectMs: number): string {
    const plain = socketPath === undefined && publicOnly !== true && connectMs === this.#defaultConnectMs;
    return plain ? origin : `${connectMs} ${origin} ${socketPath ?? ''} ${publicOnly === true}`;
  }

  #keep(key: string, pool: Pool): void {
    this.#pools.set(key, pool);
    for (const [oldest, unused] of this.#pools) {
      if (this.#pools.size <= MAX_ORIGINS) break;
      this.#pools.delete(oldest);
      void unused.close();
    }
  }

  #create({ origin, socketPath, publicOnly }: Destination, connections: number, connectMs: number): Pool {
    const isRefused = publicOnly ? isNotPublic : isUnreachable;
    const lookup = guardedLookup(this.#options.lookup ?? (systemLookup as LookupFunction), isRefused);
    // What undici does not look at goes on to the socket.
    const connecting = {
      timeout: connectMs,
      allowH2: false,
      highWaterMark: MAX_UNSENT_BYTES,
      lookup,
      socketPath,
    };
    return new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: instrumentedConnector(makeConnector(connecting), isRefused),
    });
  }
}

const isStored = (body: OutboundBody): body is StoredBody => 'stream' in body;

const isSentOnce = (body: OutboundBody | null): boolean =>
  body !== null && isStored(body) && body.once === true;

function sentBody(body: OutboundBody | null): Buffer | Readable | null {
  return body !== null && isStored(body) ? body.stream() : (body as Buffer | null);
}

/** The length of a body in pieces is told here; undici would send it in chunks, which not every engine reads. */
function headersOf({ headers, body }: OutboundRequest): string[] {
  if (body === null || Buffer.isBuffer(body)) return headers as string[];
  const length = isStored(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
  return [...headers, 'content-length', String(length)];
}

/** How often a socket has been written to, and what it had been answered before the last time. */
interface SocketUse {
  requests: number;
  readBefore: number;
}

const socketUses = new WeakMap<object, SocketUse>();
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket };
  const existing = socketUses.get(socket);
  if (existing === undefined) socketUses.set(socket, { requests: 1, readBefore: socket.bytesRead });
  else {
    existing.requests += 1;
    existing.readBefore = socket.bytesRead;
  }
});

/** Errors of sockets that had carried an answer before and nothing of the next one: the peer may have dropped them while idle. */
const staleConnectionErrors = new WeakSet<Error>();
/** A peer that closes or resets; silence and garbage are answers of a kind. */
const DROP_CODES: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * Notes, for each socket that is dropped, whether it had been used before. An address that is never connected to
 * is refused here when it stands in the origin itself, and by the lookup when a name leads there.
 */
function instrumentedConnector(
  connect: buildConnector.connector,
  isRefused: AddressFilter,
): buildConnector.connector {
  return (options, callback) => {
    if (isRefused(options.hostname)) return callback(new UnreachableAddress(), null);
    connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (!error && socket) {
        trackReuse(socket);
        installWriteRelease(socket);
        coalesceWrites(socket);
      }
      callback(...outcome);
    });
  };
}

/** A lookup whose answer is the very one that is connected to, without addresses that are never connected to. */
export function guardedLookup(
  lookup: LookupFunction,
  isRefused: AddressFilter = isUnreachable,
): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const found = Array.isArray(address) ? address : [{ address }];
      if (!error && found.some((each) => isRefused(each.address))) {
        return callback(new UnreachableAddress(), address, family);
      }
      callback(error, address, family);
    });
}

function trackReuse(socket: Socket): void {
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    const { requests, readBefore } = socketUses.get(socket) ?? { requests: 0, readBefore: 0 };
    if (requests > 1 && socket.bytesRead === readBefore && DROP_CODES.has(error.code))
      staleConnectionErrors.add(error);
  });
}

/**
 * Whether `error` is that of a connection that had answered before and was dropped before any byte of this answer: then the
 * request may be sent once more on a fresh one.
 */
export const isStaleConnectionError = (error: Error): boolean => staleConnectionErrors.has(error);
