import type { Outbound, OutboundController } from '../net/outbound.ts';

/** One call of the engine API of Docker or Podman. */
export interface EngineCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Milliseconds for the whole call, the answer's last byte included. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Hears the bytes of a good answer as they come; they are then not kept. */
  readonly onData?: (chunk: Buffer) => void;
}

export interface EngineResponse {
  readonly status: number;
  /** The answer's text; empty for a good answer that `onData` heard. */
  readonly text: string;
}

/** Sends one call; rejects when the socket is absent, closed or silent, or with the signal's reason. */
export type Exchange = (call: EngineCall) => Promise<EngineResponse>;

/** Bytes of an answer that are kept: far more than any list of containers. */
const MAX_RESPONSE_BYTES = 8 << 20;
/** The host is a formality on a unix socket; Docker wants one all the same. */
const ORIGIN = 'http://localhost';

const isGood = (status: number): boolean => status >= 200 && status < 300;

/** What has been heard of one answer so far. */
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

/** Exchange over a unix socket. Every call has a connection of its own: the other side may stop when it is idle. */
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
