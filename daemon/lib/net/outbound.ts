import { subscribe } from 'node:diagnostics_channel';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
// Import only the connection code of undici. The rest (fetch, caches, mocks) costs 40 ms and 6 MB per start.
import makeConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { installWriteRelease } from '../perf/buffer-release.ts';
import { isNotPublic, isUnreachable, UnreachableAddress } from './addresses.ts';
import { ProxyDispatcher } from './outbound-proxy.ts';

/** A body that is stored outside of memory. It is read again for each attempt. */
export interface StoredBody {
  readonly length: number;
  stream(): Readable;
}

/** A body: one buffer, a sequence of buffers, or a stored body. */
export type OutboundBody = Buffer | readonly Buffer[] | StoredBody;

/** One outgoing request. It contains all headers. None is inherited. */
export interface OutboundRequest {
  /** `http://127.0.0.1:1234`: scheme, host and port only. */
  readonly origin: string;
  /** Unix socket to connect to instead of the host and port of the origin. */
  readonly socketPath?: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: OutboundBody | null;
  /** Maximum silence of the peer in milliseconds, before and between bytes. 0 = no limit. */
  readonly idleMs: number;
  /** Uses a new connection. */
  readonly fresh?: boolean;
  /** Time limit for opening a connection in milliseconds, if it differs from the options. */
  readonly connectMs?: number | undefined;
  /**
   * Refuses the resolved addresses of this machine and of private networks. Set it for URLs that come from
   * third parties.
   */
  readonly publicOnly?: boolean;
}

/** The destination of a request. */
type Destination = Pick<OutboundRequest, 'origin' | 'socketPath' | 'publicOnly'>;
interface ProxiedDispatch {
  readonly options: Dispatcher.DispatchOptions;
  readonly connectMs: number;
  readonly isFresh: boolean;
  readonly handler: OutboundHandler;
}
/** Returns whether connections to an address are refused. */
type AddressFilter = (address: string) => boolean;

export type OutboundHandler = Dispatcher.DispatchHandler;
export type OutboundController = Dispatcher.DispatchController;

export interface OutboundOptions {
  /** Returns the time limit for opening a connection in milliseconds. Read for each new pool. */
  connectMs(): number;
  /** Maximum simultaneous connections to one origin. */
  connections?: number;
  /** Resolves names. Default: the system's resolver. */
  lookup?: LookupFunction;
  /** Returns the proxy for an origin. Null, the default: connect directly. */
  proxyFor?(origin: string): string | null;
}

/** Maximum number of connection pools. The least recently created pool is closed first. */
const MAX_ORIGINS = 64;
/** Above the connection limit of the listener, so that no stream waits for another. */
const DEFAULT_CONNECTIONS = 2048;
/** Engines close idle connections after 5 s (cpp-httplib). Stay below that. */
const KEEP_ALIVE_MS = 4_000;
/**
 * Bytes of a body that may wait for their socket. A smaller value makes large bodies wait often, a larger one
 * wastes memory.
 */
const MAX_UNSENT_BYTES = 2 ** 18;

/**
 * Opens all outgoing connections: bounded pools per origin, HTTP/1.1 without pipelining, no redirects, verified TLS,
 * through a proxy where the options name one. Every wait has a limit, and every request can be aborted through the controller that
 * the handler receives.
 */
export class Outbound {
  readonly #options: OutboundOptions;
  readonly #pools = new Map<string, Pool>();
  /** The connect timeout of the pools that are keyed by origin alone. */
  readonly #defaultConnectMs: number;
  readonly #proxies: ProxyDispatcher;
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#defaultConnectMs = options.connectMs();
    this.#proxies = new ProxyDispatcher(options.lookup ?? (systemLookup as LookupFunction));
  }

  /** Sends `request`. The handler receives the response or the error (`onResponseError`). Never throws. */
  dispatch(request: OutboundRequest, handler: OutboundHandler): void {
    const connectMs = request.connectMs ?? this.#options.connectMs();
    const options: Dispatcher.DispatchOptions = {
      path: request.path,
      method: request.method,
      headers: headersOf(request),
      body: sentBody(request.body),
      headersTimeout: request.idleMs,
      bodyTimeout: request.idleMs,
    };
    // An engine that receives `Connection: close` may close while a long body is still arriving, and lose its
    // response.
    if (request.fresh) options.reset = true;
    const isFresh = request.fresh === true;
    const proxy =
      request.socketPath === undefined ? (this.#options.proxyFor?.(request.origin) ?? null) : null;
    if (proxy !== null) {
      this.#dispatchThrough(proxy, request, { options, connectMs, isFresh, handler });
      return;
    }
    const pool = isFresh ? this.#create(request, 1, connectMs) : this.#pool(request, connectMs);
    pool.dispatch(options, handler);
    if (isFresh) void pool.close();
  }

  #dispatchThrough(
    proxy: string,
    { origin, publicOnly = false }: Destination,
    { options, connectMs, isFresh, handler }: ProxiedDispatch,
  ): void {
    const request = { ...options, origin };
    const guard = { isRefused: publicOnly ? isNotPublic : isUnreachable, checksName: publicOnly };
    this.#proxies.dispatch({ proxy, connectMs, isFresh, ...guard, options: request }, handler);
  }

  /** Closes every connection at once. Running requests fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all([this.#proxies.close(), ...pools.map((pool) => pool.destroy())]);
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

  /** Returns the pool key. It is the origin itself in the usual case, so that no string is built per request. */
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
    // undici passes options that it does not know on to the socket.
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
      connect: guardedConnector(makeConnector(connecting), isRefused),
    });
  }
}

const isStored = (body: OutboundBody): body is StoredBody => 'stream' in body;

function sentBody(body: OutboundBody | null): Buffer | Readable | null {
  return body !== null && isStored(body) ? body.stream() : (body as Buffer | null);
}

/**
 * Adds the content length of a body in several buffers. undici would use chunked encoding, which some engines
 * cannot read.
 */
function headersOf({ headers, body }: OutboundRequest): string[] {
  if (body === null || Buffer.isBuffer(body)) return headers as string[];
  const length = isStored(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
  return [...headers, 'content-length', String(length)];
}

/** Bytes received and written on a socket before its last request. */
interface SocketUse {
  readBefore: number;
  writtenBefore: number;
}

const socketUses = new WeakMap<object, SocketUse>();
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket };
  const use = socketUses.get(socket);
  if (use === undefined) return;
  use.readBefore = socket.bytesRead;
  use.writtenBefore = socket.bytesWritten;
});

/** Errors of sockets that closed before any byte of their last request was sent. */
const unwrittenErrors = new WeakSet<Error>();
/** Codes for a peer that closes or resets. A timeout or an invalid response is not among them. */
const DROP_CODES: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/**
 * Bytes that fit the empty send buffer of an idle socket. The kernel accepts such a write as a whole or refuses it,
 * so a later error cannot be one of the write.
 */
const MAX_ATOMIC_WRITE_BYTES = 2 ** 14;

/** Wraps a connector to refuse a forbidden address in the origin. The lookup refuses names that resolve to one. */
function guardedConnector(
  connect: buildConnector.connector,
  isRefused: AddressFilter,
): buildConnector.connector {
  return (options, callback) =>
    isRefused(options.hostname) ? callback(new UnreachableAddress(), null) : connect(options, callback);
}

// Prepares each socket before its first request, also those of proxies. It records whether the last request of a dropped
// socket was sent. A long body is not released while it is written.
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { socket: Socket };
  trackWrites(socket);
  installWriteRelease(socket);
});

/** Wraps a lookup so that it fails for forbidden addresses. The connection uses exactly the checked address. */
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

function trackWrites(socket: Socket): void {
  const use = { readBefore: 0, writtenBefore: 0 };
  socketUses.set(socket, use);
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (!isDrop(error) || socket.bytesRead !== use.readBefore) return;
    if (isUnwritten(socket.bytesWritten - use.writtenBefore, error)) unwrittenErrors.add(error);
  });
}

/** Returns whether no byte of a request of this length left before this error of its socket. */
const isUnwritten = (bytes: number, { syscall }: NodeJS.ErrnoException): boolean =>
  bytes === 0 || (syscall === 'write' && bytes <= MAX_ATOMIC_WRITE_BYTES);

/** Returns whether a peer closed or reset the connection. */
export const isDrop = ({ code }: NodeJS.ErrnoException): boolean => DROP_CODES.has(code);

/** Returns whether `error` ended a connection before any byte of its last request was sent. */
export const isUnwrittenError = (error: Error): boolean => unwrittenErrors.has(error);
