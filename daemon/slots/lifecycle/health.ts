import type { Outbound, OutboundController } from '../../lib/net/outbound.ts';
import type { Check } from '../engines/engine.ts';
import type { Endpoint } from '../runners/runner.ts';

/** Maximum bytes of a response; health responses are small. */
const MAX_BODY_BYTES = 1 << 20;

export interface EngineResponse {
  readonly status: number;
  readonly body: string;
}

/** A request to an engine: a check without its verdict. */
export type EngineQuery = Pick<Check, 'method' | 'path' | 'body' | 'limitMs'>;

/** Sends one request to a started engine. Rejects when it does not respond within its limit. */
export type QueryEngine = (
  endpoint: Endpoint,
  query: EngineQuery,
  signal: AbortSignal,
) => Promise<EngineResponse>;

function headersOf(endpoint: Endpoint, body: Buffer | null): string[] {
  const all = { accept: 'application/json', ...endpoint.headers };
  const typed = body === null ? all : { ...all, 'content-type': 'application/json' };
  return Object.entries(typed).flat();
}

/** Creates a QueryEngine that uses the gateway's outbound connections. */
export function createEngineQuery(outbound: Pick<Outbound, 'dispatch'>): QueryEngine {
  return (endpoint, { method, path, body: requestBody, limitMs }, signal) => {
    const body = requestBody === undefined ? null : Buffer.from(JSON.stringify(requestBody));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const { promise, resolve, reject } = Promise.withResolvers<EngineResponse>();
    const chunks: Buffer[] = [];
    let [status, bytes] = [0, 0];
    let controller: OutboundController | null = null;
    const stop = () => {
      reject(limit.reason);
      controller?.abort(limit.reason instanceof Error ? limit.reason : new Error('aborted'));
    };
    outbound.dispatch(
      {
        origin: endpoint.origin,
        method,
        path,
        headers: headersOf(endpoint, body),
        body,
        idleMs: limitMs,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (limit.aborted) stop();
        },
        onResponseStart(_, code) {
          status = code;
        },
        onResponseData(current, chunk) {
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES) current.abort(new Error('the answer is too large'));
          else chunks.push(chunk);
        },
        onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks).toString('utf8') }),
        onResponseError: (_, error) => reject(error),
      },
    );
    limit.addEventListener('abort', stop, { once: true });
    return promise.finally(() => limit.removeEventListener('abort', stop));
  };
}

/** A started engine failed a check. The message is the reason, in one line. */
export class CheckFailure extends Error {}

/**
 * Runs every check against the engine, in order; resolves when all succeeded
 * (docs/spec/contract.md#slot-ready): health, a model list that holds the model, one short completion.
 * Rejects with CheckFailure, or with the signal's reason.
 */
export async function runChecks(
  query: QueryEngine,
  endpoint: Endpoint,
  checks: readonly Check[],
  signal: AbortSignal,
): Promise<void> {
  for (const check of checks) {
    let response: EngineResponse;
    try {
      response = await query(endpoint, check, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new CheckFailure(`The engine did not answer the ${check.name} check in time.`, { cause });
    }
    const fault = check.verdict(response.status, response.body);
    if (fault !== null) throw new CheckFailure(`${fault}.`);
  }
}
