import type { LookupFunction } from 'node:net';
import type { buildConnector, Dispatcher, ProxyAgent } from 'undici';
import { UnreachableAddress } from './addresses.ts';
import { asProxyError } from './proxy-error.ts';

/** Maximum proxies with open connections. The least recently created is closed first. */
const MAX_AGENTS = 8;
const KEEP_ALIVE_MS = 4_000;

export interface ProxiedRequest {
  /** Address of the proxy. */
  readonly proxy: string;
  readonly connectMs: number;
  /** Uses a new connection. */
  readonly isFresh: boolean;
  /** Refuses addresses of the server. */
  readonly isRefused: (address: string) => boolean;
  /** Whether a name that resolves to a refused address is refused too. */
  readonly checksName: boolean;
  readonly options: Dispatcher.DispatchOptions & { readonly origin: string };
}

/**
 * Sends requests through proxies: plain HTTP in absolute form, TLS through a tunnel, verified with the name of the server.
 * A SOCKS proxy gets a tunnel for both.
 * The proxy resolves names, so a name is checked by the addresses that this machine knows for it, if any.
 */
export class ProxyDispatcher {
  readonly #lookup: LookupFunction;
  readonly #agents = new Map<string, ProxyAgent>();
  #isClosed = false;

  constructor(lookup: LookupFunction) {
    this.#lookup = lookup;
  }

  /** Sends a request. The handler receives the response or the error. Never throws. */
  dispatch(request: ProxiedRequest, handler: Dispatcher.DispatchHandler): void {
    const guarded = proxyHandler(handler, request);
    void this.#send(request, guarded).catch((error: Error) =>
      guarded.onResponseError?.(null as unknown as Dispatcher.DispatchController, error),
    );
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  async #send(request: ProxiedRequest, handler: Dispatcher.DispatchHandler): Promise<void> {
    const { isRefused, checksName, isFresh, options } = request;
    const host = new URL(options.origin).hostname.replace(/^\[|\]$/g, '');
    const addresses = checksName ? await this.#addressesOf(host) : [];
    if ([host, ...addresses].some(isRefused)) throw new UnreachableAddress();
    const agent = await this.#agent(request);
    agent.dispatch(options, isFresh ? closingHandler(handler, agent) : handler);
  }

  /** Returns the addresses that this machine knows for a name. Empty when only the proxy can resolve it. */
  #addressesOf(host: string): Promise<string[]> {
    return new Promise((resolve) => {
      this.#lookup(host, { all: true }, (error, found) => {
        const all = Array.isArray(found) ? found.map(({ address }) => address) : [found];
        resolve(error ? [] : all);
      });
    });
  }

  async #agent({ proxy, connectMs, isFresh }: ProxiedRequest): Promise<ProxyAgent> {
    const key = `${connectMs} ${proxy}`;
    const existing = isFresh ? undefined : this.#agents.get(key);
    if (existing !== undefined) return existing;
    // Loaded here because most gateways have no proxy. The agent needs methods that only the whole package adds.
    const { ProxyAgent: Agent, Pool: Connections } = await import('undici');
    const create = () =>
      new Agent({
        ...optionsOf(proxy, connectMs),
        // The time limit of the connection does not include the answer to CONNECT.
        clientFactory: (origin, options) =>
          new Connections(origin, {
            ...options,
            connect: recordingFailures((options as { connect: buildConnector.connector }).connect),
            headersTimeout: connectMs,
          }),
      });
    const created = isFresh ? create() : (this.#agents.get(key) ?? create());
    if (this.#isClosed) void created.destroy();
    else if (!isFresh) this.#keep(key, created);
    return created;
  }

  #keep(key: string, agent: ProxyAgent): void {
    this.#agents.set(key, agent);
    for (const [oldest, unused] of this.#agents) {
      if (this.#agents.size <= MAX_AGENTS) break;
      this.#agents.delete(oldest);
      void unused.close();
    }
  }
}

interface AgentOptions extends ProxyAgent.Options {
  readonly connectTimeout: number;
  readonly username: string;
  readonly password: string;
}

function optionsOf(uri: string, connectMs: number): AgentOptions {
  const { username, password } = new URL(uri);
  return {
    uri,
    connectTimeout: connectMs,
    // undici decodes the login of an HTTP proxy only.
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  };
}

/** Errors of connections to a proxy. An error of a connection through it may look the same. */
const failedAtProxy = new WeakSet<Error>();

const recordingFailures =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...result) => {
      if (result[0]) failedAtProxy.add(result[0]);
      callback(...result);
    });

/** Closes an agent after its only request. Not before that request has begun: its tunnel could then not be opened. */
function closingHandler(handler: Dispatcher.DispatchHandler, agent: ProxyAgent): Dispatcher.DispatchHandler {
  const close = () => void agent.close().catch(() => {});
  return {
    ...handler,
    onRequestStart: (controller, context) => {
      close();
      handler.onRequestStart?.(controller, context);
    },
    onResponseError: (controller, error) => {
      close();
      handler.onResponseError?.(controller, error);
    },
  };
}

/** Names the proxy in errors before the response, and passes no event after an error. */
function proxyHandler(
  handler: Dispatcher.DispatchHandler,
  { proxy, options }: ProxiedRequest,
): Dispatcher.DispatchHandler {
  const toTls = options.origin.startsWith('https:');
  let [isSent, hasStarted, hasFailed] = [false, false, false];
  return {
    onRequestStart: (controller, context) => {
      isSent = true;
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart: (controller, status, headers, text) => {
      hasStarted ||= status >= 200;
      handler.onResponseStart?.(controller, status, headers, text);
    },
    onResponseData: (controller, chunk) => {
      if (!hasFailed) handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (controller, trailers) => {
      if (!hasFailed) handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      if (hasFailed) return;
      hasFailed = true;
      handler.onResponseError?.(
        controller,
        hasStarted
          ? error
          : asProxyError(error, { proxy, isSent, toTls, isAtProxy: failedAtProxy.has(error) }),
      );
    },
  };
}
