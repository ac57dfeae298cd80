import type { Outbound, OutboundController } from '../net/outbound.ts';

/** One call of the engine API of Docker or Podman. */
export interface EngineCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Time limit for the whole call in milliseconds, including the last byte of the response. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Receives the bytes of a 2xx response as they arrive. They are not collected then. */
  readonly onData?: (chunk: Buffer) => void;
}

export interface EngineResponse {
  readonly status: number;
  /** Text of the response. Empty for a 2xx response that went to `onData`. */
  readonly text: string;
}

/** Sends one call. Rejects when the socket is absent, closed or silent, or with the signal's reason. */
export type Exchange = (call: EngineCall) => Promise<EngineResponse>;

/** Maximum bytes of a response: far more than any list of containers. */
const MAX_RESPONSE_BYTES = 8 << 20;
/** Docker requires a host even on a unix socket. */
const ORIGIN = 'http://localhost';

const isGood = (status: number): boolean => status >= 200 && status < 300;

/** Collects one response. */
class ResponseCollector {
  readonly #call: EngineCall;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  status = 0;

  constructor(call: EngineCall) {
    this.#call = call;
  }

  push(controller: OutboundController, chunk: Buffer): void {
    if (this.#call.onData !== undefined && isGood(this.status)) {
      this.#call.onData(chunk);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_RESPONSE_BYTES) controller.abort(new Error('the answer is too large'));
    else this.#chunks.push(chunk);
  }

  response(): EngineResponse {
    return { status: this.status, text: Buffer.concat(this.#chunks).toString('utf8') };
  }
}

function limitOf(call: EngineCall): AbortSignal {
  const limit = AbortSignal.timeout(call.limitMs);
  return call.signal === undefined ? limit : AbortSignal.any([call.signal, limit]);
}

/**
 * Returns an exchange over a unix socket. Every call uses a new connection, because the engine may stop when
 * idle.
 */
export function exchangeOver(outbound: Pick<Outbound, 'dispatch'>, socketPath: string): Exchange {
  return (call) => {
    const { method, path, limitMs } = call;
    const limit = limitOf(call);
    const body = call.body === undefined ? null : Buffer.from(JSON.stringify(call.body));
    const headers = body === null ? [] : ['content-type', 'application/json'];
    const { promise, resolve, reject } = Promise.withResolvers<EngineResponse>();
    const collector = new ResponseCollector(call);
    let controller: OutboundController | null = null;
    const stop = () => {
      reject(limit.reason);
      controller?.abort(limit.reason instanceof Error ? limit.reason : new Error('aborted'));
    };
    outbound.dispatch(
      { origin: ORIGIN, socketPath, method, path, headers, body, idleMs: limitMs, fresh: true },
      {
        onRequestStart(started) {
          controller = started;
          if (limit.aborted) stop();
        },
        onResponseStart(_, code) {
          collector.status = code;
        },
        onResponseData: (current, chunk) => collector.push(current, chunk),
        onResponseEnd: () => resolve(collector.response()),
        onResponseError: (_, error) => reject(error),
      },
    );
    limit.addEventListener('abort', stop, { once: true });
    return promise.finally(() => limit.removeEventListener('abort', stop));
  };
}
